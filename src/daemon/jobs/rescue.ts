import type { MakeLoop, Pass } from '../core/loop.ts';
import { existsSync, readdirSync } from 'node:fs';
import { deathReason } from '../../domain/jobs/end-reason.ts';
import { isTerminal, STOP_GRACE_MS } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { PathPart } from '../../domain/path-part.ts';
import type { Bounds } from '../../runners/bounds/bounds.ts';
import type { endTree, Leader } from '../../runners/process/tree.ts';
import { termDirOf } from '../../runners/process/term-once.ts';
import { findRunDir, jobIdOf, removeRunDir } from '../../runners/run-dir.ts';
import type { SharedMemory } from '../../runners/shared-memory/shared-memory.ts';
import { fenceOf, type JobEnd } from '../../store/jobs/claims.ts';
import { listOrphans, type Orphan } from '../../store/maintenance/daemons.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import type { Machine } from '../core/identity.ts';
import { type CheckedJob, findChecked } from './checked-job.ts';
import { endJob } from './job-transitions.ts';
import type { Signals } from '../core/signals.ts';
import type { RunDeps, WriteResult } from './run-support.ts';

export interface RescueDeps extends RunDeps {
  readonly machine: Machine;
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
 * key. No job is run again automatically. What could not be ended or removed is tried again. What fails for one row is
 * thrown after the others had their turn.
 */
export async function rescueOnce(deps: RescueDeps, signal: AbortSignal): Promise<Pass> {
  const orphans = (await listOrphans(deps.store.db)).filter((job) => job.daemon_id !== deps.self());
  const failed = rejections(await Promise.allSettled(orphans.map((job) => rescueJob(deps, job, signal))));
  // An operator may remove a former folder while this runs.
  let isSwept = true;
  for (const runsDir of [deps.runsDir, ...(deps.formerRunsDirs ?? []).filter((dir) => existsSync(dir))])
    isSwept = (await sweepRunDirs({ ...deps, runsDir }, failed)) && isSwept;
  await sweepGroups(deps);
  // Also at the start, for what jobs of dead daemons left.
  await deps.sharedMemory?.empty();
  if (failed.length > 0) throw failed[0];
  return orphans.length > 0 || !isSwept ? { dueMs: RESCUE_EVERY_MS } : {};
}

function rejections(results: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
}

/** The group of a job is removed before its end is written, so one that remains has no owner. */
async function sweepGroups({ store, bounds }: RescueDeps): Promise<void> {
  for (const id of bounds?.leftovers() ?? []) {
    const job = await findJob(store.db, id);
    if (job === undefined || isTerminal(job.state)) await bounds?.remove(id);
  }
}

/** With the folder in which the directory of this run is. */
function holding(deps: RescueDeps, jobId: PathPart): RescueDeps {
  const former = deps.formerRunsDirs?.find((dir) => existsSync(findRunDir(dir, jobId)));
  return former === undefined ? deps : { ...deps, runsDir: former };
}

/**
 * Removes leftover run directories: the daemon that ends an orphan may use another data directory. The directory of a
 * job is removed before its end is written, so one that remains has no owner. False where one is still there.
 */
async function sweepRunDirs(deps: RescueDeps, failed: unknown[]): Promise<boolean> {
  let isSwept = true;
  const ids = readdirSync(deps.runsDir).flatMap((entry) => jobIdOf(entry) ?? []);
  for (const id of new Set(ids)) {
    try {
      isSwept = (await sweepRunDir(deps, id)) && isSwept;
    } catch (error) {
      failed.push(error);
    }
  }
  return isSwept;
}

async function sweepRunDir(deps: RescueDeps, id: PathPart): Promise<boolean> {
  const { store, runsDir, clock } = deps;
  const job = await findJob(store.db, id);
  const checked = job === undefined ? null : findChecked(job);
  if (checked === null || !isTerminal(checked.state)) return true;
  const found = await recovered(deps, checked);
  if (found !== null) await store.write(found);
  return removeRunDir(findRunDir(runsDir, id), clock, SWEEP_WITHIN_MS);
}

/** What a run has left is read only for an order of this service: the row says where it is, and whose it becomes. */
async function recovered(deps: RescueDeps, job: CheckedJob): Promise<WriteResult | null> {
  return (await passesTag(deps.store, 'jobs', job)) ? deps.kinds[job.kind].recover(deps, job) : null;
}

async function rescueJob(deps: RescueDeps, job: Orphan, signal: AbortSignal): Promise<void> {
  // A row that no daemon has made has no process and nothing on the disk.
  const checked = findChecked(job);
  const run = checked === null ? { found: null } : await recoverRun(deps, checked, signal);
  if (run === null) return;
  const ended = await deps.store.write(async (tx) => {
    await run.found?.(tx);
    const moved = await endJob(tx, fenceOf(job), rescuedEnd(job, tx.now), 'rescue');
    if (moved && checked !== null) await deps.kinds[checked.kind].interrupted(tx, checked);
    return moved;
  });
  if (!ended) return;
  deps.announceJob(job.id);
  deps.signals.emit('job:rescued', { jobId: job.id, daemonId: job.daemon_id ?? '' });
}

/** Ends what runs of a job, and collects its results before its key is released. Null where something is left. */
async function recoverRun(
  deps: RescueDeps,
  job: Orphan & CheckedJob,
  signal: AbortSignal,
): Promise<{ readonly found: WriteResult | null } | null> {
  const own = holding(deps, job.id);
  const here = job.host === deps.machine.host && job.boot_id === deps.machine.bootId;
  // On another machine that daemon's guard has ended the tree before the lease ran out; after a reboot nothing is left.
  const left = here ? await endSurvivors(own, job, signal) : [];
  if (left.length > 0) deps.signals.emit('job:stuck', { jobId: job.id, left });
  if (left.length > 0 || signal.aborted) return null;
  if (here) await deps.bounds?.remove(job.id);
  return { found: await recovered(own, job) };
}

/** It ended no later than its daemon was last seen. */
function rescuedEnd({ daemon_node: node, started_at: startedAt, stopped_at: stoppedAt }: Orphan, now: number): JobEnd {
  const at = Math.max(startedAt ?? 0, Math.min(stoppedAt ?? now, now));
  return { state: 'interrupted', exitCode: null, reason: deathReason(node), at };
}

async function endSurvivors(
  deps: RescueDeps,
  job: Orphan & CheckedJob,
  signal: AbortSignal,
): Promise<readonly number[]> {
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

export const rescueLoop: MakeLoop<RescueDeps> = (deps) => ({
  name: 'rescue',
  everyMs: RESCUE_EVERY_MS,
  wakeOn: ['daemon-died'],
  restsWithoutCommits: true,
  once: (signal) => rescueOnce(deps, signal),
});
