import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFigures, runChaos } from '../../night/chaos/chaos.ts';
import { chosenSeed } from '../../support/seeded.ts';

const KILLS = 10;

test(
  `F01: after ${KILLS} kills under load of two daemons on PostgreSQL nothing acknowledged is lost, nothing ran ` +
    'twice or beside its key',
  async (t) => {
    const seed = chosenSeed();
    t.diagnostic(`CHAOS_SEED=${seed}`);
    const { violations, figures } = await runChaos(t, { postgres: true, daemons: 2, kills: KILLS, seed });
    t.diagnostic(describeFigures(figures));
    assert.deepEqual(violations, []);
    assert.ok(figures.acks > KILLS && figures.interrupted > 0, 'there was load, and the kills met it');
  },
);
