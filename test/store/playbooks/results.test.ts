import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import type { HostResult, PlaybookResults, Recap } from '../../../src/domain/playbooks/results.ts';
import { encodeResults, findRunTasks, insertResults, readHosts } from '../../../src/store/playbooks/results.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const RECAP: Recap = {
  ended: true,
  plays: 1,
  playsWithoutHosts: 0,
  playsLeft: 0,
  hostsLeft: 0,
  hosts: 450,
  good: 450,
  failed: 0,
  unreachable: 0,
};

const host = (number: number): HostResult => ({
  host: `h${String(number).padStart(4, '0')}`,
  ok: number,
  changed: 0,
  failures: 0,
  unreachable: 0,
  skipped: 0,
  rescued: 0,
  ignored: 0,
  failure: number === 7 ? { task: 1, message: 'Käse 🧀' } : null,
  cells: 'o.c',
});

for (const engine of ENGINES) {
  describe(`Results of playbooks on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('Hosts come back in their order, block by block, with the tasks and what was cut', async () => {
      const hosts = Array.from({ length: 450 }, (_, n) => host(n));
      const tasks = [{ play: 'Site', task: 'first' }];
      const results: PlaybookResults = { recap: RECAP, hosts, tasks, hostsCut: 3, tasksCut: 4 };
      const stored = await encodeResults(results);
      await its.store.write((tx) => insertResults(tx, 'job_1', stored));
      assert.deepEqual(await findRunTasks(its.store.db, 'job_1'), {
        job_id: 'job_1',
        hosts: 450,
        hosts_cut: 3,
        tasks,
        tasks_cut: 4,
      });
      const read: HostResult[] = [];
      for await (const block of readHosts(its.store.db, 'job_1')) read.push(...block);
      assert.deepEqual(read, hosts);
    });

    test('T80: a small row that holds more than results may have is refused, not unpacked', async () => {
      const bomb = zstdCompressSync(Buffer.alloc(33 * 1024 * 1024, ' '));
      const run = { hosts: 1, hosts_cut: 0, tasks: 1, tasks_cut: 0, data: bomb };
      await its.store.write((tx) => insertResults(tx, 'job_3', { run, blocks: [] }));
      await assert.rejects(findRunTasks(its.store.db, 'job_3'), { code: 'ERR_BUFFER_TOO_LARGE' });
    });

    test('A job without results has none', async () => {
      assert.equal(await findRunTasks(its.store.db, 'job_2'), undefined);
      for await (const _ of readHosts(its.store.db, 'job_2')) assert.fail();
    });
  });
}
