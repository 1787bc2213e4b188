import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRaces, runCordonRaces } from '../../night/chaos/cordon-races.ts';
import { chosenSeed } from '../../support/seeded.ts';

const RACES = 10;

for (const postgres of [false, true])
  test(
    `T32: of ${RACES} cordons that race the claims of two daemons on ${postgres ? 'PostgreSQL' : 'SQLite'}, none is ` +
      'answered before a claim',
    async (t) => {
      const seed = chosenSeed();
      t.diagnostic(`CHAOS_SEED=${seed}`);
      const { violations, figures } = await runCordonRaces(t, { postgres, races: RACES, seed });
      t.diagnostic(describeRaces(figures));
      assert.deepEqual(violations, []);
      assert.ok(figures.contested > 0, 'a cordon met claims');
    },
  );
