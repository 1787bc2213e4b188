import { failureReason, stopReason } from '../../domain/jobs/end-reason.ts';
import type { PartialLine, RunEnd } from '../../domain/jobs/job.ts';
import type { Clock } from '../../lib/clock.ts';
import { evaluateOutcome, recordEnd } from '../../reaction/outcome.ts';
import type { EvaluatedEvent, ReactionDeps } from '../../reaction/types.ts';
import type { RecordedChunk } from '../../runners/output/chunk-queue.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { appendOutput, isOwned, recordProgress } from '../../store/jobs/chunks.ts';
import type { Fence, JobEnd } from '../../store/jobs/claims.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { setPartial } from '../../store/jobs/partials.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { endJob } from './job-transitions.ts';
import type { WriteResult } from './run-support.ts';

/** The last output of a run waits this long for the end of the job, so that both are one commit, in milliseconds. */
const SOON_MS = 50;

/** `lost`: the run has lost its job, and nothing was written. `without event`: the loop of the outcomes makes it. */
type Ended = 'ended' | 'without event' | 'lost';

/** What follows from the end of a job, in the transaction of the end. */
export interface NextOfJob {
  /** Takes the locks that come before those of jobs. */
  hold(tx: Tx): Promise<void>;
  /** Called after the job has ended. */
  write(tx: Tx): Promise<void>;
}

interface Ending {
  readonly fence: Fence;
  readonly final: JobEnd;
  /** Output that is not stored yet. */
  readonly lastChunk: RecordedChunk | null;
  readonly result: WriteResult;
  /** Null where nothing follows. */
  readonly next: NextOfJob | null;
}

/** Exit codes of a program that the signals of a stop ended: SIGHUP, SIGINT, SIGKILL, SIGTERM. */
const ENDED_BY_STOP: readonly (number | null)[] = [129, 130, 137, 143];

interface Circumstances {
  /** It was stopped because its cancellation was requested. */
  readonly isCancelled: boolean;
  /** The guard may have ended it, because the lease was not renewed in time. */
  readonly isOverdue: boolean;
  /** The daemon is stopping. */
  readonly isClosed: boolean;
}

/**
 * The end of a job by that of its run. A run that ended by itself before it could be stopped keeps its end; while the
 * guard may have ended it, only a success is certain to be the run's.
 */
export function finalEnd(end: RunEnd, { isCancelled, isOverdue, isClosed }: Circumstances): JobEnd {
  const byStop = isClosed && ENDED_BY_STOP.includes(end.exitCode);
  const isInterrupted =
    (end.state === 'cancelled' && !isCancelled) || (end.state === 'failed' && (isOverdue || byStop));
  if (isInterrupted) return { state: 'interrupted', exitCode: end.exitCode, reason: stopReason(isOverdue) };
  return { ...end, reason: end.state === 'failed' ? failureReason(end) : null };
}

/**
 * Prepares the one commit of a run's end: the last output, the end, the result of its kind, and the event of the end.
 * The answer writes them; `again` after an attempt that may have been committed.
 */
export async function prepareEnd(
  reaction: ReactionDeps,
  row: JobRow,
  { fence, final, lastChunk, result, next }: Ending,
): Promise<(tx: Tx, again: boolean) => Promise<Ended>> {
  // Without the events the job ends all the same, and the loop of the outcomes records them.
  const events = await evaluateOutcome(reaction, { ...row, state: final.state }).catch(() => null);
  return async (tx, again) => {
    // What failed may have been what follows, or the event: neither must keep the job from ending.
    if (!again) await next?.hold(tx);
    if (lastChunk !== null && !(await appendChunk(tx, fence, lastChunk, again))) return 'lost';
    if (!(await endJob(tx, fence, final, 'run'))) return 'lost';
    await result(tx);
    if (!again) await next?.write(tx);
    return events !== null && !again && (await recordEvents(reaction, tx, row.id, events)) ? 'ended' : 'without event';
  };
}

async function recordEvents(
  reaction: ReactionDeps,
  tx: Tx,
  jobId: string,
  events: readonly EvaluatedEvent[],
): Promise<boolean> {
  const job = await getJob(tx.db, jobId);
  // A drift that the result has just written makes a second event, which was not evaluated.
  if (job.drift_status !== null) return false;
  await recordEnd(reaction, tx, job, events);
  return true;
}

/** Stores output of a run, and what the job is at by it. False when the run has lost its job. */
export async function appendChunk(tx: Tx, fence: Fence, chunk: RecordedChunk, again: boolean): Promise<boolean> {
  const { firstSeq, lastSeq, rawBytes, data, progress, partial } = chunk;
  const row = { first_seq: firstSeq, last_seq: lastSeq, raw_bytes: rawBytes, data };
  if (!(await appendOutput(tx, fence, row, again))) return false;
  if (progress !== undefined) await recordProgress(tx, fence.jobId, progress);
  if (partial !== undefined) setPartial(tx, fence.jobId, partial);
  return true;
}

/** Stores the unfinished line of a run. False when the run has lost its job. */
export async function showPartial(tx: Tx, fence: Fence, partial: PartialLine | null): Promise<boolean> {
  if (!(await isOwned(tx, fence))) return false;
  setPartial(tx, fence.jobId, partial);
  return true;
}

/** Whether `work` ends, well or not, within SOON_MS. */
export async function endsSoon(clock: Clock, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const cancel = clock.after(SOON_MS, () => resolve(false));
  const done = Promise.allSettled([work]).then(() => true);
  return Promise.race([done, late]).finally(cancel);
}
