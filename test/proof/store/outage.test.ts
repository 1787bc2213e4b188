/** The database stops and starts again while jobs run. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import { readHistory } from '../../night/chaos/history.ts';
import { until } from '../../support/api-client.ts';
import { startPostgres } from '../../support/postgres/postgres.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

/** The jobs may live for 60 % of the lease without a renewal: longer than the outage. */
const LEASE = '60s';
const OUTAGE_MS = 2_000;
const LINES = 40;

describe('an outage of PostgreSQL', () => {
  test('F24: a job keeps running while the server is down and loses no line, and the daemon answers 503', async (t) => {
    const server = await startPostgres();
    const fixture = await openFixture({ after: (step) => t.after(async () => {
      await step();
      await server.stop();
    }) }, { databaseUrl: server.url }); // prettier-ignore
    const daemon = await fixture.start({ dataDir: join(fixture.dir, 'a'), args: ['--lease', LEASE] });
    const api = daemon.api(fixture.token);
    const id = await api.run([
      '/bin/sh',
      '-c',
      `i=0; while [ $i -lt ${LINES} ]; do echo $i; i=$((i+1)); sleep 0.1; done`,
    ]);
    await until('the job prints', async () => (await api.events(id)).some((event) => event.text === '3'));
    await server.kill();
    const refused = await api.post('/commands/run', { inventory: 'localhost', command: ['/bin/true'] });
    assert.deepEqual([refused.status, refused.error?.code], [503, 'unavailable']);
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    await server.start();

    const end = await until('the job has ended', async () => {
      const job = await api.job(id).catch(() => undefined);
      return job !== undefined && job.state !== 'running' ? job : undefined;
    });
    assert.deepEqual([end.state, end.exit_code], ['succeeded', 0]);
    const printed = (await api.events(id)).flatMap((event) => (event.stream === 'stdout' ? [event.text] : []));
    assert.deepEqual(
      printed,
      Array.from({ length: LINES }, (_, index) => String(index)),
    );
    const next = await api.run(['/bin/true']);
    assert.equal((await api.waitFor(next)).state, 'succeeded');
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
    assert.equal(await daemon.stop(), 0);
  });
});
