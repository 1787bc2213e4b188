/** Checks that somebody wrote into the database, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toJson } from '../../../src/lib/json.ts';
import { type CheckTransition, recordTransitions } from '../../../src/reaction/check-transition.ts';
import type { CheckRow, CheckTargetRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const INTERVAL = 10_000;

async function writeTarget(store: Store, check: string, some: Partial<CheckTargetRow>): Promise<void> {
  await store.write(({ db }) => db.updateTable('check_targets').set(some).where('check_name', '=', check).execute());
}

function transition(target: string, at: number): CheckTransition {
  return {
    check: 'web',
    target,
    transition: { status: 'firing', observedAt: [at, at, at] },
    durationMs: 1,
    detail: 'refused',
    netgroup: null,
    keep: async () => true,
  };
}

for (const engine of ENGINES) {
  describe(`A check that no one can read, on ${engine.name}`, () => {
    const fixture = freshStore(engine);

    test('T80: is named once and left out, and the others are probed', async () => {
      const { store } = fixture;
      await putCheck(store, 'web', ['a']);
      const { sweep, probed, errors, pass } = sweepFixture(store);
      await pass(1_000);
      await putCheck(store, 'bad', ['b'], { options: '{' as CheckRow['options'] });
      await putCheck(store, 'fields', ['b'], { options: 'null' as CheckRow['options'] });
      await putCheck(store, 'kind', ['b'], { kind: 'zzz' as 'tcp' });
      await putCheck(store, 'often', ['b'], { interval_ms: 0 });
      await putCheck(store, 'pending', ['b']);
      await writeTarget(store, 'pending', { pending: '{' as CheckTargetRow['pending'] });
      await putCheck(store, 'times', ['b']);
      await writeTarget(store, 'times', { pending: toJson({ disagreeing: [1e300], withheld: null }) });
      await putCheck(store, 'zoo', ['z']);
      await pass(2 * INTERVAL);
      assert.deepEqual([...new Set(probed)].toSorted(), ['web/a', 'zoo/z']);
      await putCheck(store, 'web', ['a', 'c']);
      await pass(2 * INTERVAL);
      assert.ok(probed.includes('web/c'));
      assert.deepEqual(
        errors.map((error) => /the check (\w+) /.exec(String(error))?.[1]),
        ['bad', 'fields', 'kind', 'often', 'pending', 'times'],
      );
      await putCheck(store, 'bad', ['b']);
      await pass(2 * INTERVAL);
      assert.ok(probed.includes('bad/b'), 'one that can be read again is probed');
      await sweep.stop();
    });

    test('T80: a transition that cannot be written loses no other of its batch, and is named', async () => {
      const { store } = fixture;
      const { reaction } = sweepFixture(store);
      const batch = [transition('a', Date.now()), transition('b', 1e300), transition('c', Date.now())];
      await assert.rejects(recordTransitions(reaction, batch), /no event of web\/b/);
      const rows = await store.db.selectFrom('events').select('fingerprint').orderBy('id').execute();
      assert.deepEqual(
        rows.map(({ fingerprint }) => fingerprint),
        ['check:web/a', 'check:web/c'],
      );
    });
  });
}
