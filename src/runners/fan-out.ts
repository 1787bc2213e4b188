import { STOP_GRACE_MS } from '../domain/jobs/job.ts';
import { pause } from '../lib/clock.ts';
import { inParallel } from '../lib/flow/parallel.ts';
import type { Launched, Waiting } from './launch/tool.ts';
import { wordlessReason } from './launch/errors.ts';
import { exitCodeOf, finishOutput } from './process/supervise.ts';
import { endTree } from './process/tree.ts';
import { accountOf, endAccountOf, launchRequest, leftOver, registerLeader, type RunParts, stopOf } from './program.ts';
import type { ProgramBounds } from './bounds/bounds.ts';
import type { FanOut, FanOutEnd, ProgramOrder } from './runner.ts';

/**
 * Several programs of one job at a time. The guard and the row of the job know the first process: the others are found
 * by the mark of the job, and none starts before the first is recorded. They are ended together.
 */
export async function executeAll<T>(parts: RunParts, fanOut: FanOut<T>): Promise<FanOutEnd> {
  const { setup, program, recorder } = parts;
  const { job } = program;
  let bounds: ProgramBounds | null = null;
  try {
    await setup.guard.ready();
    bounds = setup.bounds.open(job.id, accountOf(setup, job), null);
    return await new Fan(parts, bounds).run(fanOut);
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    recorder.system(error.message, wordlessReason(error.cause));
    return { reason: 'refused', survivors: [] };
  } finally {
    for (const line of (await bounds?.end()) ?? []) recorder.system(line);
  }
}

/** The program cannot be started, so no other of the same is tried. */
class NotStarted extends Error {}

class Fan {
  readonly #parts: RunParts;
  readonly #bounds: ProgramBounds;
  /** Resolves when the first process is recorded, and rejects when it could not be started. */
  readonly #recorded = Promise.withResolvers<undefined>();
  #first: Waiting | null = null;
  #hasFirst = false;
  /** Why no further program is started. */
  #stop: FanOutEnd['reason'] | null = null;
  /** What the end of a program or its start threw. */
  #failure: { readonly error: unknown } | null = null;
  readonly #stopped = new AbortController();

  constructor(parts: RunParts, bounds: ProgramBounds) {
    this.#parts = parts;
    this.#bounds = bounds;
    this.#recorded.promise.catch(() => undefined);
  }

  async run<T>({ items, atATime, order, ended }: FanOut<T>): Promise<FanOutEnd> {
    const { setup, program, recorder, limits } = this.#parts;
    const { deadline, signal } = limits;
    const over = new AbortController();
    const cancel = (): void => this.#end('cancelled');
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const timer = this.#atDeadline(deadline, over.signal);
    // Once it is stopped, what runs is ended as one tree; a program that ends by itself leaves the others alone.
    const ending = this.#whenStopped(over.signal).then((stopped) => (stopped ? this.#endTree() : []));
    try {
      await inParallel(items, Math.max(1, atATime), async (item) => {
        if (this.#stop !== null) return;
        try {
          const { exitCode, wasStopped } = await this.#one(order(item));
          await ended(item, { exitCode, wasStopped });
        } catch (error) {
          this.#failure ??= { error };
          this.#end('refused');
        }
      });
    } finally {
      over.abort();
      signal.removeEventListener('abort', cancel);
      await timer;
      await ending;
    }
    const survivors = await this.#endTree();
    if (survivors.length === 0) setup.guard.unwatch(program.job.id);
    else recorder.system(leftOver(survivors));
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#stop === 'timeout') recorder.system('The job reached its time-out and was stopped.');
    return { reason: this.#stop ?? 'exited', survivors };
  }

  #end(reason: FanOutEnd['reason']): void {
    if (this.#stop !== null) return;
    this.#stop = reason;
    this.#stopped.abort();
  }

  async #atDeadline(deadline: number, over: AbortSignal): Promise<void> {
    const { clock } = this.#parts.setup;
    // One timer holds at most 24 days; a job has 7.
    for (let leftMs = deadline - clock.monotonic(); leftMs > 0; leftMs = deadline - clock.monotonic())
      if (!(await pause(clock, leftMs, over))) return;
    this.#end('timeout');
  }

  #whenStopped(over: AbortSignal): Promise<boolean> {
    const stopped = this.#stopped.signal;
    if (stopped.aborted) return Promise.resolve(true);
    return new Promise((resolve) => {
      stopped.addEventListener('abort', () => resolve(true), { once: true });
      over.addEventListener('abort', () => resolve(false), { once: true });
    });
  }

  async #one(order: ProgramOrder): Promise<{ exitCode: number | null; wasStopped: boolean }> {
    const { setup, recorder } = this.#parts;
    const { clock } = setup;
    const launched = await this.#launch(order);
    recorder.attach(launched.stdout, 'stdout', order.sifts?.stdout);
    recorder.attach(launched.stderr, 'stderr', order.sifts?.stderr);
    const end = await launched.exited;
    await Promise.all([finishOutput(launched.stdout, clock), finishOutput(launched.stderr, clock)]);
    const wasStopped = this.#stop !== null;
    if (!wasStopped) await launched.started.catch((error: unknown) => Promise.reject(notStarted(error)));
    return { exitCode: exitCodeOf(end), wasStopped };
  }

  async #launch(order: ProgramOrder): Promise<Launched> {
    const { setup, recorder, reports } = this.#parts;
    const request = launchRequest(this.#parts, order, this.#bounds);
    if (this.#hasFirst) {
      await this.#recorded.promise;
      return setup.launcher.launch({ ...request, child: null }).catch((error: unknown) => {
        throw notStarted(error);
      });
    }
    this.#hasFirst = true;
    try {
      const launched = await setup.launcher.launch({
        ...request,
        child: reports.takeChild(),
        say: (text) => recorder.system(text),
        beforeStart: async (leader) => {
          this.#first = leader;
          await registerLeader(this.#parts, order, leader);
        },
      });
      recorder.begin();
      this.#bounds.watch(launched);
      this.#recorded.resolve(undefined);
      return launched;
    } catch (error) {
      const reason = notStarted(error);
      this.#recorded.reject(reason);
      throw reason;
    }
  }

  /** Ends every process of the job. Answers those that not even SIGKILL ended. */
  async #endTree(): Promise<readonly number[]> {
    const leader = this.#first;
    if (leader === null) return [];
    const { setup, program } = this.#parts;
    const { left } = await endTree({
      ...stopOf(program),
      jobId: program.job.id,
      leader: { pid: leader.pid, startTicks: leader.startTicks },
      graceMs: STOP_GRACE_MS,
      clock: setup.clock,
      members: program.job.privileged ? null : this.#bounds.members,
      endAccount: endAccountOf(this.#parts),
    });
    return left;
  }
}

function notStarted(error: unknown): NotStarted {
  if (error instanceof NotStarted) return error;
  return new NotStarted(error instanceof Error ? error.message : 'unknown error', { cause: error });
}
