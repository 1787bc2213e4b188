import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENGINES, freshStore, makeJob } from '../../../test/store/engine-fixture.ts';
import { systemClock } from '../../lib/clock.ts';
import { InvariantBroken } from '../../lib/invariants/invariants.ts';
import { recordBroken } from '../../store/audit/broken.ts';
import { listLedger } from '../../store/audit/list.ts';
import { recordLeader } from '../../store/jobs/claims.ts';
import { getJob, insertJob } from '../../store/jobs/jobs.ts';
import type { Facts } from '../entry.ts';
import { examineInvariants } from './invariants.ts';

for (const engine of ENGINES) {
  describe(`On ${engine.name}`, () => {
    const its = freshStore(engine);

    test('a broken invariant undoes its write, is in the ledger once, and the doctor reports it', async () => {
      const { store } = its;
      const end = recordBroken(store);
      const examine = () =>
        examineInvariants({ openedStore: () => store, clock: systemClock } as Partial<Facts> as Facts);
      assert.equal((await examine()).status, 'ok');
      for (let tries = 0; tries < 2; tries += 1) {
        const queued = store.write(async (tx) => {
          await insertJob(tx, makeJob({ id: 'job_1' }));
          await recordLeader(tx, { jobId: 'job_1', daemonId: '', generation: 1 }, { pid: 1, startTicks: 1 });
        });
        await assert.rejects(queued, InvariantBroken);
      }
      // The row of the ledger is written after the refusal: this write comes behind it.
      await store.write((tx) => insertJob(tx, makeJob({ id: 'job_2' })));
      await assert.rejects(getJob(store.db, 'job_1'), { code: 'not_found' });
      const rows = (await Array.fromAsync(listLedger(store.db, {}, 10))).flat();
      assert.deepEqual(
        rows.map(({ operation, target, detail }) => [operation, target, detail]),
        [['invariant.broken', 'fence.whole', '{"facts":"job=job_1 daemon= generation=1"}']],
      );
      end();
      const { status, detail } = await examine();
      assert.equal(status, 'fail');
      assert.match(detail, /^A fault of the service: fence\.whole at 20\S+Z\. Nothing wrong was written\. /);
    });
  });
}
