import { Failure } from '../../domain/failure.ts';
import { UNCONFIRMED_REASON } from '../../domain/jobs/end-reason.ts';
import type { RunEnd } from '../../domain/jobs/job.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { RecordedChunk } from '../../runners/output/chunk-queue.ts';
import { RecorderFenced } from '../../runners/output/recorder.ts';
import type { RunSetup } from '../../runners/run.ts';
import { fenceOf, listCancelRequested, recordLeader, type Fence } from '../../store/jobs/claims.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { isNodeCordoned } from '../../store/maintenance/cordon.ts';
import { hasClaimable } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { checkedJob } from './checked-job.ts';
import { checkOrder } from './ordered.ts';
import { claim, endJob, recordMove, type Claimed, type Claimer } from './job-transitions.ts';
import { appendChunk, endsSoon, finalEnd, type NextOfJob, prepareEnd, showPartial } from './run-end.ts';
import { persist } from './persist.ts';
import { NO_RESULT, refusedRun, type ReadyRun, type RunDeps, type WriteResult } from './run-support.ts';
import type { Leader } from '../../runners/process/tree.ts';
import type { Signals } from '../core/signals.ts';
import { UnconfirmedClaims } from './unconfirmed-claims.ts';
import { once, WaitingChildren } from './waiting-children.ts';

interface WorkDeps extends RunDeps {
  readonly setup: RunSetup;
  readonly maxJobs: number;
  readonly announceJob: (jobId: string) => void;
  readonly signals: Signals;
  readonly reaction: ReactionDeps;
  readonly claimer: () => Claimer;
  /** True while the guard may end jobs by itself, because the lease was not renewed in time. */
  readonly isOverdue: () => boolean;
  /** Called before each run: restores modes that an earlier one may have changed. */
  readonly beforeRun?: () => Promise<void>;
  /** The end of a job is recorded, but not its event. */
  readonly onWithoutEvent: () => void;
  /** What follows from the end of this job; null where nothing does. Where it fails, a loop does it later. */
  readonly nextOf: (row: JobRow) => Promise<NextOfJob | null>;
  /** A run has ended, and its slot is free. */
  readonly onFree: () => void;
}

/** The reason to stop a run. */
type Stop = 'cancel' | 'shutdown' | 'lease-late' | 'lease-lost';

interface Run {
  readonly fence: Fence;
  readonly abort: AbortController;
  stop: Stop | null;
  readonly done: Promise<void>;
}

/** Claims jobs while slots are free, runs them, and records their ends. */
export class Work {
  readonly #deps: WorkDeps;
  readonly #runs = new Map<string, Run>();
  readonly #children: WaitingChildren;
  readonly #unconfirmed: UnconfirmedClaims;
  #closed = false;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
    this.#children = new WaitingChildren(deps.setup.launcher);
    this.#unconfirmed = new UnconfirmedClaims(deps.setup.clock);
  }

  get running(): number {
    return this.#runs.size;
  }

  /** One pass: claims as many jobs as there are free slots. */
  async claimOnce(): Promise<void> {
    const { store, claimer } = this.#deps;
    // Asking first keeps an idle daemon, and one among several, from taking the write lock for nothing.
    if (
      this.#free <= 0 ||
      !(await hasClaimable(store.db, claimer().id)) ||
      (await isNodeCordoned(store.db, claimer().node))
    )
      return;
    await store.write((tx) => this.claimIn(tx), { prompt: true });
  }

  /**
   * Claims in a transaction, after whose commit the runs begin. Transactions of one process follow each other, so the
   * free slots that it sees are still free after the commit.
   */
  async claimIn(tx: Tx): Promise<void> {
    if (this.#free <= 0) return;
    this.#children.begin();
    const claimed = await claim(tx, this.#deps.claimer(), this.#free, () => this.#children.next());
    if (claimed.length === 0) return;
    const rows = claimed.map(({ row }) => row);
    this.#unconfirmed.add(rows);
    tx.afterCommit(() => {
      this.#children.taken();
      this.#unconfirmed.remove(rows);
      for (const each of claimed) {
        this.#start(each);
        this.#deps.announceJob(each.row.id);
      }
    });
  }

  get #free(): number {
    return this.#closed ? 0 : this.#deps.maxJobs - this.#runs.size;
  }

  /** One pass: stops the runs for which a cancel was requested. */
  async cancelOnce(): Promise<void> {
    for (const row of this.#unconfirmed.overdue()) await this.#endUnconfirmed(row);
    if (this.#runs.size === 0) return;
    for (const jobId of await listCancelRequested(this.#deps.store.db, this.#deps.claimer().id))
      this.#stopRun(jobId, 'cancel');
  }

  /** Nothing changes where the claim was not committed. The next pass tries again where the store refuses the write. */
  async #endUnconfirmed(row: JobRow): Promise<void> {
    const end = { state: 'interrupted', exitCode: null, reason: UNCONFIRMED_REASON } as const;
    const ended = await this.#deps.store.write(async (tx) => {
      // By now the job may have been claimed again, with the same fence where the first claim was undone.
      const moved = this.#unconfirmed.has(row) && (await endJob(tx, fenceOf(row), end, 'run'));
      if (moved) await this.#deps.kinds[row.kind].interrupted(tx, row);
      return moved;
    });
    if (this.#unconfirmed.has(row)) this.#unconfirmed.remove([row]);
    if (!ended) return;
    this.#deps.announceJob(row.id);
    this.#deps.onWithoutEvent();
  }

  /**
   * Ends claiming. From now on a program that ends by a signal counts as ended by the stop, because systemd, for
   * example, signals the daemon and its programs together.
   */
  close(): void {
    this.#closed = true;
    this.#children.giveUp();
  }

  /** Stops every run, and waits until each tree has ended and its end is written down. */
  async stopAll(why: Exclude<Stop, 'cancel'>): Promise<void> {
    if (why === 'shutdown') this.close();
    const runs = [...this.#runs.entries()];
    for (const [jobId] of runs) this.#stopRun(jobId, why);
    await Promise.all(runs.map(([, run]) => run.done));
  }

  #stopRun(jobId: string, why: Stop): void {
    const run = this.#runs.get(jobId);
    if (run === undefined || run.stop !== null) return;
    run.stop = why;
    run.abort.abort();
  }

  #start(claimed: Claimed): void {
    const fence = fenceOf(claimed.row);
    const abort = new AbortController();
    this.#deps.signals.emit('job:started', { jobId: fence.jobId });
    const done = this.#execute(claimed, fence, abort.signal).finally(() => {
      this.#runs.delete(fence.jobId);
      this.#deps.onFree();
    });
    this.#runs.set(fence.jobId, { fence, abort, stop: null, done });
  }

  async #execute({ row, lastSeq, child }: Claimed, fence: Fence, signal: AbortSignal): Promise<void> {
    let end: RunEnd = { state: 'failed', exitCode: null };
    let [result, lastChunk] = [NO_RESULT, null as RecordedChunk | null];
    try {
      await this.#deps.beforeRun?.();
      const run = await this.#ready(row, signal);
      const ran = await run(
        this.#deps.setup,
        {
          firstSeq: lastSeq + 1,
          takeChild: once(child),
          leader: (leader) => this.#recordLeader(fence, leader, child),
          write: (chunk) => this.#keep(fence, (tx, again) => appendChunk(tx, fence, chunk, again)),
          partial: (partial) => this.#keep(fence, (tx) => showPartial(tx, fence, partial)),
          checkpoint: (store) => this.#checkpoint(fence, store),
        },
        signal,
      );
      ({ end, lastChunk } = ran);
      const finishing = ran.finish();
      // Readers of the output do not wait for long work at the end.
      if (lastChunk !== null && !(await endsSoon(this.#deps.setup.clock, finishing))) {
        const chunk = lastChunk;
        await this.#keep(fence, (tx, again) => appendChunk(tx, fence, chunk, again));
        lastChunk = null;
      }
      result = await finishing;
    } catch (error) {
      this.#deps.signals.emit('loop:failed', { name: `run of ${row.id}`, error });
      // A run whose results cannot be prepared must not look successful.
      if (end.state === 'succeeded') end = { ...end, state: 'failed' };
    }
    child?.giveUp();
    try {
      await this.#finish(row, fence, end, { lastChunk, result }).catch((error: unknown) => {
        // The transaction of the end was undone: what the run made was refused in it.
        const isRefused = error instanceof Failure && error.code !== 'unavailable';
        if (!isRefused || this.#deps.kinds[row.kind].mayBeRefused !== true) throw error;
        const refused = { state: 'failed', exitCode: null, reason: error.message } as const;
        return this.#finish(row, fence, refused, { lastChunk, result: NO_RESULT });
      });
    } catch (error) {
      // The job stays this daemon's until it ends; then the next one marks it interrupted.
      this.#deps.signals.emit('loop:failed', { name: `end of ${row.id}`, error });
    }
  }

  /** Where the run can't start, its output says why, and nothing else is run. */
  async #ready(row: JobRow, signal: AbortSignal): Promise<ReadyRun> {
    try {
      const job = checkedJob(row);
      await checkOrder(this.#deps.store, row, this.#deps.claimer().node);
      return await this.#deps.kinds[row.kind].prepare(this.#deps, job, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (signal.aborted) return refusedRun('It was stopped before its program was started.', 'cancelled');
      await this.#persist((tx) =>
        Promise.resolve(recordMove(tx, this.#deps.claimer().id, 'job.refuse', row.id, { code: error.code })),
      );
      return refusedRun(error.message, 'failed');
    }
  }

  /** Stores what a run has made so far. Rejects once the run has lost its job; it is stored all the same. */
  async #checkpoint(fence: Fence, store: (tx: Tx) => Promise<{ owned: boolean }>): Promise<void> {
    const { owned } = await this.#persist(store);
    if (owned) return;
    this.#stopRun(fence.jobId, 'lease-lost');
    throw new RecorderFenced();
  }

  async #recordLeader(fence: Fence, leader: Leader, recorded: Leader | null): Promise<void> {
    if (leader.pid === recorded?.pid && leader.startTicks === recorded.startTicks) return;
    const owned = await this.#persist((tx) => recordLeader(tx, fence, leader));
    if (!owned) throw new Error('the job was lost before its program started');
  }

  /** See `persist`. */
  #persist<T>(work: (tx: Tx, again: boolean) => Promise<T>): Promise<T> {
    const { store, setup } = this.#deps;
    return persist({ store, clock: setup.clock, isClosed: () => this.#closed }, work);
  }

  /** Stores output. Rejects once the run has lost its job. */
  async #keep(fence: Fence, store: (tx: Tx, again: boolean) => Promise<boolean>): Promise<void> {
    const kept = await this.#persist(async (tx, again) => {
      const owned = await store(tx, again);
      if (owned) tx.afterCommit(() => this.#deps.announceJob(fence.jobId));
      return owned;
    });
    if (kept) return;
    this.#stopRun(fence.jobId, 'lease-lost');
    throw new RecorderFenced();
  }

  async #finish(
    row: JobRow,
    fence: Fence,
    end: RunEnd,
    { lastChunk, result }: { lastChunk: RecordedChunk | null; result: WriteResult },
  ): Promise<void> {
    const stop = this.#runs.get(fence.jobId)?.stop ?? null;
    const isOverdue = stop === 'lease-late' || this.#deps.isOverdue();
    const final = finalEnd(end, { isCancelled: stop === 'cancel', isOverdue, isClosed: this.#closed });
    if (stop === 'lease-lost') {
      this.#deps.signals.emit('job:fenced', { jobId: fence.jobId });
      return;
    }
    const next = await this.#deps.nextOf(row).catch(() => null);
    const write = await prepareEnd(this.#deps.reaction, row, { fence, final, lastChunk, result, next });
    const ended = await this.#persist(async (tx, again) => {
      const written = await write(tx, again);
      if (written !== 'lost') tx.afterCommit(() => this.#deps.announceJob(fence.jobId));
      return written;
    });
    if (ended === 'without event') this.#deps.onWithoutEvent();
    if (ended === 'lost') this.#deps.signals.emit('job:fenced', { jobId: fence.jobId });
    else this.#deps.signals.emit('job:finished', { jobId: fence.jobId, state: final.state, exitCode: final.exitCode });
  }
}
