import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesSince, forgetManaged, listManaged, setManaged } from '../../../src/store/configuration/managed.ts';
import { deleteNetgroup, insertNetgroup } from '../../../src/store/netgroups/netgroups.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const row = (name: string, set: string, digest = 'd') => ({
  kind: 'netgroup',
  name,
  config_set: set,
  digest,
  applied_at: 1,
});

for (const engine of ENGINES) {
  describe(`Managed objects on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('belong to one set each, the one that was noted last', async () => {
      await its.store.write((tx) => setManaged(tx, [row('a', 'ops'), row('b', 'ops')]));
      await its.store.write((tx) => setManaged(tx, [row('b', 'web', 'e')]));
      await its.store.write((tx) => setManaged(tx, []));
      assert.deepEqual(
        (await listManaged(its.store.db)).map((each) => ({ ...each })),
        [row('a', 'ops'), row('b', 'web', 'e')],
      );
    });

    test('are forgotten with the object', async () => {
      await its.store.write((tx) => insertNetgroup(tx, 'a', { prefixes: ['10.0.0.0/8'], excludes: [] }));
      await its.store.write((tx) => setManaged(tx, [row('a', 'ops'), row('b', 'ops')]));
      await its.store.write((tx) => deleteNetgroup(tx, 'a'));
      await its.store.write((tx) => forgetManaged(tx, 'check', 'b'));
      assert.deepEqual(
        (await listManaged(its.store.db)).map(({ name }) => name),
        ['b'],
      );
    });

    test('show what the ledger says of their operations after a time, newest first', async () => {
      const entry = { principal: 'ana', owner: 'ana', via: 'cli', target: 'a', detail: {} };
      const at = await its.store.write((tx) => {
        tx.record({ ...entry, operation: 'netgroup.set' });
        tx.record({ ...entry, operation: 'job.cancel' });
        return Promise.resolve(tx.now);
      });
      const [change, ...others] = await changesSince(its.store.db, at - 1, ['netgroup.set', 'netgroup.add']);
      assert.deepEqual({ ...change, at }, { at, principal: 'ana', operation: 'netgroup.set', target: 'a' });
      assert.deepEqual([others, await changesSince(its.store.db, change?.at ?? 0, ['netgroup.set'])], [[], []]);
    });
  });
}
