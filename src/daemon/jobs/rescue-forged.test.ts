/** Rows of jobs that somebody has written into the database, and processes of others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { openTestStore, HERE, type TestStore } from '../../../test/support/store/job-store.ts';
import { needs } from '../../../test/support/tools.ts';
import { systemClock } from '../../lib/clock.ts';
import { processEntry } from '../../runners/process/process-table.ts';
import { endTree, findSurvivors, type Leader } from '../../runners/process/tree.ts';
import { fenceOf, recordLeader } from '../../store/jobs/claims.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { markStopped } from '../../store/maintenance/daemons.ts';
import { createSignals } from '../core/signals.ts';
import { claim } from './job-transitions.ts';
import { rescueOnce } from './rescue.ts';

/** A session of its leader and a child of it. Its environment has the id, where there is one. */
async function session(t: TestContext, jobId: string | null): Promise<Leader> {
  const env = { PATH: '/usr/bin:/bin', ...(jobId === null ? {} : { SVC_JOB_ID: jobId }) };
  const script = 'sleep 300 & echo ready; wait';
  const child = spawn('/bin/sh', ['-c', script], { detached: true, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid } = child;
  assert.ok(pid !== undefined);
  t.after(() => {
    if (processEntry(pid)?.startTicks === entry?.startTicks) process.kill(-pid, 'SIGKILL');
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const entry = processEntry(pid);
  assert.ok(entry !== null);
  return { pid, startTicks: entry.startTicks };
}

/** A running job of a daemon that died here, with the leader that `leaderOf` makes for its id. */
async function orphan(on: TestStore, leaderOf: (jobId: string) => Promise<Leader>): Promise<string> {
  const id = await on.job();
  const daemonId = await on.daemon();
  const [claimed] = await on.store.write((tx) => claim(tx, { id: daemonId, node: 'here' }, 1));
  assert.ok(claimed?.row.id === id);
  const leader = await leaderOf(id);
  await on.store.write((tx) => recordLeader(tx, fenceOf(claimed.row), leader));
  await on.store.write((tx) => markStopped(tx, daemonId));
  return id;
}

async function rescue(on: TestStore): Promise<void> {
  const self = await on.daemon();
  const deps = { ...on, clock: systemClock, machine: HERE, endTree, announceJob: () => undefined, self: () => self };
  await rescueOnce({ ...deps, signals: createSignals() }, new AbortController().signal);
}

describe('Rescue of a row that names a process', { skip: needs('Linux') }, () => {
  test('T82: of others leaves it with its group, and ends the job as interrupted', async (t) => {
    const on = await openTestStore();
    t.after(() => on.close());
    const stranger = await session(t, null);
    const members = (): Promise<unknown[]> => findSurvivors('of nothing', stranger);
    assert.equal((await members()).length, 2);
    const id = await orphan(on, () => Promise.resolve(stranger));
    await rescue(on);
    assert.equal((await getJob(on.store.db, id)).state, 'interrupted');
    assert.equal((await members()).length, 2);
  });

  test('T82: of the job ends it with its child, and so it does beside a stranger', async (t) => {
    const on = await openTestStore();
    t.after(() => on.close());
    const stranger = await session(t, null);
    let own: Leader | null = null;
    const real = await orphan(on, async (jobId) => (own = await session(t, jobId)));
    const forged = await orphan(on, () => Promise.resolve(stranger));
    await rescue(on);
    for (const id of [real, forged]) assert.equal((await getJob(on.store.db, id)).state, 'interrupted');
    assert.deepEqual(await findSurvivors(real, own), []);
    assert.equal((await findSurvivors('of nothing', stranger)).length, 2);
  });
});
