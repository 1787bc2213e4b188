import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostResult } from '../../../src/domain/commands/hosts.ts';
import { keepHostResults, listHostResults } from '../../../src/store/commands/host-results.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const result = (host: string, some: Partial<HostResult> = {}): HostResult => ({
  host,
  status: 'ok',
  rc: 0,
  stdout: 'x\n',
  stderr: '',
  ...some,
});

for (const engine of ENGINES) {
  describe(`Results of hosts on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are kept once for each host of a job, also when the write is repeated', async () => {
      const lost = result('web2', { status: 'unreachable', rc: null, stderr: 'ünreached\n' });
      await its.store.write((tx) => keepHostResults(tx, 'job_1', [lost, result('web1')]));
      await its.store.write((tx) => keepHostResults(tx, 'job_1', [result('web1', { rc: 9 }), result('web3')]));
      await its.store.write((tx) => keepHostResults(tx, 'job_2', [result('web1', { rc: 2, status: 'failed' })]));
      const listed = await listHostResults(its.store.db, 'job_1');
      assert.deepEqual(
        listed.map((each) => ({ ...each })),
        [result('web1'), lost, result('web3')],
      );
      assert.deepEqual(await listHostResults(its.store.db, 'job_3'), []);
    });
  });
}
