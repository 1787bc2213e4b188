/** Several daemons on one data directory share its queue. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import { readHistory } from '../../night/chaos/history.ts';
import { until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const JOBS = 100;

describe('daemons that share a data directory', () => {
  for (const daemons of [2, 4]) {
    test(`F04: ${daemons} daemons started at once start each of ${JOBS} jobs once`, async (t) => {
      const fixture = await openFixture(t);
      const ids = await Promise.all(
        Array.from({ length: JOBS }, (_, index) =>
          fixture.queue({ command: fixture.witness.command(`k${index % 50}`, 0), key: `k${index % 50}` }),
        ),
      );
      await Promise.all(Array.from({ length: daemons }, () => fixture.start({ args: ['--max-jobs', '4'] })));
      await until(
        'all jobs have ended',
        async () => {
          const open = await fixture.store.db
            .selectFrom('jobs')
            .select('id')
            .where('state', '!=', 'succeeded')
            .execute();
          return open.length === 0;
        },
        50_000,
      );
      for (const id of ids) assert.equal(fixture.witness.starts(id), 1);
      const claimed = await fixture.store.db.selectFrom('jobs').select('daemon_id').distinct().execute();
      assert.ok(claimed.length > 1, 'more than one daemon took part');
      assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
    });
  }

  test('F04: 4 daemons started at once on an empty data directory all become ready', async (t) => {
    const fixture = await openFixture(t);
    const dataDir = join(fixture.dir, 'empty');
    const daemons = await Promise.all(Array.from({ length: 4 }, () => fixture.start({ dataDir })));
    const codes = await Promise.all(daemons.map((daemon) => daemon.stop()));
    assert.deepEqual(codes, [0, 0, 0, 0]);
  });

  test('F01: a daemon that dies leaves its jobs to its living neighbour', async (t) => {
    const fixture = await openFixture(t);
    const first = await fixture.start();
    const id = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => fixture.witness.starts(id) === 1);
    await fixture.start();
    const next = await fixture.queue({ command: fixture.witness.command('k', 0), key: 'k' });
    await first.kill();
    await fixture.waitFor(id, ['interrupted']);
    await fixture.waitFor(next, ['succeeded']);
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
  });
});
