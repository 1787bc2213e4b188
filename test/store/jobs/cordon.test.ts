/** A cordon and claims at the same time, by two daemons, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claim } from '../../../src/daemon/jobs/job-transitions.ts';
import { setCordon } from '../../../src/store/maintenance/cordon.ts';
import type { Store } from '../../../src/store/store.ts';
import { addDaemon, ENGINES, enqueue } from '../engine-fixture.ts';

const ROUNDS = 6;
/** Reads of the store: enough for a cordon that does not wait to be acknowledged. */
const LOOKS = 200;

const countRunning = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('jobs').select('id').where('state', '=', 'running').execute()).length;

for (const engine of ENGINES) {
  describe(`A cordon on ${engine.name}`, () => {
    test('after a cordon is acknowledged no claim commits, also none that was under way', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const [operator, daemon] = [await database.open(), await database.open()];
      await addDaemon(daemon, 'dmn_a');
      await enqueue(daemon);
      const [entered, mayCommit] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
      const claiming = daemon.write(async (tx) => {
        entered.resolve((await claim(tx, { id: 'dmn_a', node: 'here' }, 1)).length);
        await mayCommit.promise;
      });
      assert.equal(await entered.promise, 1);
      const order: string[] = [];
      const cordoned = operator.write((tx) => setCordon(tx, 'ana')).then(() => order.push('cordoned'));
      for (let n = 0; n < LOOKS && order.length === 0; n += 1) await countRunning(operator);
      order.push('may commit');
      mayCommit.resolve();
      await Promise.all([claiming, cordoned]);
      assert.deepEqual(order, ['may commit', 'cordoned'], 'the cordon was acknowledged before the claim had committed');
      assert.deepEqual(await daemon.write((tx) => claim(tx, { id: 'dmn_a', node: 'here' }, 1)), []);
    });

    test('of claims and a cordon that race, nothing is claimed after the answer, until the uncordon', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const [operator, daemon] = [await database.open(), await database.open()];
      await addDaemon(daemon, 'dmn_a');
      for (let round = 0; round < ROUNDS; round += 1) {
        for (let n = 0; n < 4; n += 1) await enqueue(daemon);
        const claims = Array.from({ length: 4 }, () =>
          daemon.write((tx) => claim(tx, { id: 'dmn_a', node: 'here' }, 1)),
        );
        await operator.write((tx) => setCordon(tx, 'ana'));
        const atOnce = await countRunning(operator);
        await Promise.all(claims);
        assert.equal(await countRunning(operator), atOnce, `round ${round}`);
        await operator.write((tx) => setCordon(tx, null));
        while ((await daemon.write((tx) => claim(tx, { id: 'dmn_a', node: 'here' }, 10))).length > 0);
        const { count } = await operator.db
          .selectFrom('jobs')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('state', '=', 'queued')
          .executeTakeFirstOrThrow();
        assert.equal(count, 0);
      }
    });
  });
}
