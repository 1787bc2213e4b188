/** A daemon whose event loop is held keeps its lease and its jobs, on a shared PostgreSQL. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const LEASE_MS = 6_000;
/** The lease and the guard's share of it are long over by then. */
const HELD_MS = 10_000;

/** Nothing else of this process runs in this time but its threads. */
function holdLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('T87: requests that hold the event loop for longer than the lease end no job', async (t) => {
  const fixture = await openFixture(t, { postgres: true });
  const { witness, store } = fixture;
  const args = ['--lease', `${LEASE_MS}ms`];
  await fixture.serve({ args });
  const job = await fixture.queue({ command: witness.command('k', 60), key: 'k' });
  await until('the tool has started', () => witness.starts(job) === 1);
  // It would take the job over as soon as the lease was over.
  await fixture.start({ dataDir: join(fixture.dir, 'other'), args });
  const before = await fixture.row(job);
  holdLoop(HELD_MS);
  const daemons = await store.db.selectFrom('daemons').select(['id', 'stopped_at']).execute();
  assert.deepEqual(
    daemons.filter(({ stopped_at: at }) => at !== null),
    [],
    'no daemon was taken for dead',
  );
  const after = await fixture.row(job);
  assert.deepEqual([after.state, after.daemon_id], ['running', before.daemon_id]);
  assert.equal(witness.lines().filter(({ what }) => what === 'end').length, 0, 'the tool runs on');
  const next = await fixture.queue({ command: witness.command('other', 0), key: 'other' });
  await fixture.waitFor(next, ['succeeded']);
  await fixture.call('job.cancel', { id: job });
  assert.equal((await fixture.waitFor(job, ['cancelled'])).state, 'cancelled');
});
