import type { LoopRow, Pass } from '../core/loop.ts';
import { existsSync, readdirSync } from 'node:fs';
import { deathReason } from '../../domain/jobs/end-reason.ts';
import { isTerminal, STOP_GRACE_MS } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/jobs/kinds.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Bounds } from '../../runners/bounds/bounds.ts';
import type { endTree, Leader } from '../../runners/process/tree.ts';
import { termDirOf } from '../../runners/process/term-once.ts';
import { findRunDir, jobIdOf, removeRunDir } from '../../runners/run-dir.ts';
import type { SharedMemory } from '../../runners/shared-memory/shared-memory.ts';
import { fenceOf, type JobEnd } from '../../store/jobs/claims.ts';
import { listOrphans, type Orphan } from '../../store/maintenance/daemons.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Machine } from '../core/identity.ts';
import { endJob } from './job-transitions.ts';
import type { Signals } from '../core/signals.ts';
import type { RecoverDeps, RunKinds, WriteResult } from './run-support.ts';

export interface RescueDeps extends RecoverDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly kinds: RunKinds;
  /** Where run directories were before the account of jobs, or the build, was another one. */
  readonly formerRunsDirs?: readonly string[];
  readonly endTree: typeof endTree;
  readonly bounds?: Pick<Bounds, 'leftovers' | 'remove'>;
  readonly sharedMemory?: Pick<SharedMemory, 'empty'> | null;
  readonly announceJob: (jobId: string) => void;
  readonly signals: Signals;
  readonly self: () => string;
}

/** The interval of the search for jobs without a daemon, in milliseconds. */
const RESCUE_EVERY_MS = 2_000;
/** The rescue waits for the sweep, so a directory that a process keeps filling is left to the next pass. */
const SWEEP_WITHIN_MS = 1_000;

/**
 * Ends the jobs of dead daemons: first the processes, then the job as `interrupted`, which releases its concurrency
 * key. No job is run again automatically. What could not be ended or removed is tried again.
 */
export async function rescueOnce(deps: RescueDeps, signal: AbortSignal): Promise<Pass> {
  const orphans = (await listOrphans(deps.store.db)).filter((job) => job.daemon_id !== deps.self());
  await Promise.all(orphans.map((job) => rescueJob(holding(deps, job.id), job, signal)));
  // An operator may remove a former folder while this runs.
  let isSwept = true;
  for (const runsDir of [deps.runsDir, ...(deps.formerRunsDirs ?? []).filter((dir) => existsSync(dir))])
    isSwept = (await sweepRunDirs({ ...deps, runsDir })) && isSwept;
  await sweepGroups(deps);
  // Also at the start, for what jobs of dead daemons left.
  await deps.sharedMemory?.empty();
  return orphans.length > 0 || !isSwept ? { dueMs: RESCUE_EVERY_MS } : {};
}

/** The group of a job is removed before its end is written, so one that remains has no owner. */
async function sweepGroups({ store, bounds }: RescueDeps): Promise<void> {
  for (const id of bounds?.leftovers() ?? []) {
    const job = await findJob(store.db, id);
    if (job === undefined || isTerminal(job.state)) await bounds?.remove(id);
  }
}

/** With the folder in which the directory of this run is. */
function holding(deps: RescueDeps, jobId: string): RescueDeps {
  const former = deps.formerRunsDirs?.find((dir) => existsSync(findRunDir(dir, jobId)));
  return former === undefined ? deps : { ...deps, runsDir: former };
}

/**
 * Removes leftover run directories: the daemon that ends an orphan may use another data directory. The directory of a
 * job is removed before its end is written, so one that remains has no owner. False where one is still there.
 */
async function sweepRunDirs(deps: RescueDeps): Promise<boolean> {
  const { store, runsDir } = deps;
  let isSwept = true;
  for (const id of new Set(readdirSync(runsDir).map(jobIdOf))) {
    const job = await findJob(store.db, id);
    if (job === undefined || !isTerminal(job.state)) continue;
    const found = await recovered(deps, job);
    if (found !== null) await store.write(found);
    isSwept = (await removeRunDir(findRunDir(runsDir, job.id), deps.clock, SWEEP_WITHIN_MS)) && isSwept;
  }
  return isSwept;
}

/** What a run has left is read only for an order of this service: the row says where it is, and whose it becomes. */
async function recovered(deps: RescueDeps, job: JobRow): Promise<WriteResult | null> {
  const { keyring, store } = deps;
  const isOurs = await passesTag({ ring: await keyring(), adoption: store.adoption }, 'jobs', job);
  return isOurs ? deps.kinds[job.kind].recover(deps, job) : null;
}

async function rescueJob(deps: RescueDeps, job: Orphan, signal: AbortSignal): Promise<void> {
  const here = job.host === deps.machine.host && job.boot_id === deps.machine.bootId;
  // On another machine that daemon's guard has ended the tree before the lease ran out; after a reboot nothing is left.
  const left = here ? await endSurvivors(deps, job, signal) : [];
  if (left.length > 0) deps.signals.emit('job:stuck', { jobId: job.id, left });
  if (left.length > 0 || signal.aborted) return;
  if (here) await deps.bounds?.remove(job.id);
  // Collect the results of the run before its key is released.
  const kind = deps.kinds[job.kind];
  const found = await recovered(deps, job);
  const ended = await deps.store.write(async (tx) => {
    await found?.(tx);
    const moved = await endJob(tx, fenceOf(job), rescuedEnd(job, tx.now), 'rescue');
    if (moved) await kind.interrupted(tx, job);
    return moved;
  });
  if (!ended) return;
  deps.announceJob(job.id);
  deps.signals.emit('job:rescued', { jobId: job.id, daemonId: job.daemon_id ?? '' });
}

/** It ended no later than its daemon was last seen. */
function rescuedEnd({ node, started_at: startedAt, stopped_at: stoppedAt }: Orphan, now: number): JobEnd {
  const at = Math.max(startedAt ?? 0, Math.min(stoppedAt ?? now, now));
  return { state: 'interrupted', exitCode: null, reason: deathReason(node), at };
}

async function endSurvivors(deps: RescueDeps, job: Orphan, signal: AbortSignal): Promise<readonly number[]> {
  // A program starts only after its leader is recorded: without one, there is nothing to look for.
  const recorded = leaderIn(job);
  if (recorded === null) return [];
  const stop = {
    termDir: termDirOf(findRunDir(deps.runsDir, job.id)),
    leaderFirst: KINDS[job.kind].stop === 'leader-first',
  };
  const { left } = await deps.endTree({
    jobId: job.id,
    recorded,
    graceMs: STOP_GRACE_MS,
    clock: deps.clock,
    signal,
    ...stop,
  });
  return left;
}

/** Null also for numbers that no daemon gives: 0 and 1 mean other processes to the kernel, negative ones groups. */
function leaderIn({ leader_pid: pid, leader_start: startTicks }: Orphan): Leader | null {
  return pid === null || startTicks === null || pid <= 1 ? null : { pid, startTicks };
}

export const rescueLoop: LoopRow<RescueDeps> = {
  name: 'rescue',
  everyMs: RESCUE_EVERY_MS,
  wakeOn: ['daemon-died'],
  restsWithoutCommits: true,
  once: rescueOnce,
};
