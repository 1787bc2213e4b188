/** Checks that somebody wrote into the database, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const INTERVAL = 10_000;

for (const engine of ENGINES) {
  describe(`A check that no one can read, on ${engine.name}`, () => {
    const fixture = freshStore(engine);

    test('T80: is named once and left out, and the others are probed', async () => {
      const { store } = fixture;
      await putCheck(store, 'web', ['a']);
      const { sweep, probed, errors, pass } = sweepFixture(store);
      await pass(1_000);
      await putCheck(store, 'bad', ['b'], { options: '{' });
      await putCheck(store, 'fields', ['b'], { options: 'null' });
      await putCheck(store, 'kind', ['b'], { kind: 'zzz' as 'tcp' });
      await putCheck(store, 'often', ['b'], { interval_ms: 0 });
      await putCheck(store, 'pending', ['b']);
      await store.write(({ db }) =>
        db.updateTable('check_targets').set({ pending: '{' }).where('check_name', '=', 'pending').execute(),
      );
      await putCheck(store, 'zoo', ['z']);
      await pass(2 * INTERVAL);
      assert.deepEqual([...new Set(probed)].toSorted(), ['web/a', 'zoo/z']);
      await putCheck(store, 'web', ['a', 'c']);
      await pass(2 * INTERVAL);
      assert.ok(probed.includes('web/c'));
      assert.deepEqual(
        errors.map((error) => /the check (\w+) /.exec(String(error))?.[1]),
        ['bad', 'fields', 'kind', 'often', 'pending'],
      );
      await putCheck(store, 'bad', ['b']);
      await pass(2 * INTERVAL);
      assert.ok(probed.includes('bad/b'), 'one that can be read again is probed');
      await sweep.stop();
    });
  });
}
