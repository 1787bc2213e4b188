import type { Worker } from 'node:worker_threads';
import { Failure } from '../../../domain/failure.ts';
import type { Clock } from '../../../lib/clock.ts';
import { programEntry } from '../../../lib/files/program-files.ts';
import type { Guard } from '../../../runners/process/guard.ts';
import { removeLeaseTimes } from '../../../runners/process/lease-times.ts';
import type { Signals } from '../signals.ts';
import type { Followed, LeaseNews, LeaseOrder } from './lease-order.ts';
import { countTurn, newSharedLease, Trust } from './trust.ts';

/** How often the event loop shows the thread that it runs, in milliseconds. */
const TURN_EVERY_MS = 1_000;
/** After the thread ended by a fault, in milliseconds. */
const RESTART_AFTER_MS = 500;
/** A thread that has not tried to renew by then, in milliseconds, will not. */
const START_MAX_MS = 60_000;

const NAME = 'lease';
const PROGRAM = programEntry('daemon/core/lease/lease-thread');

interface LeaseKeeperOptions {
  readonly clock: Clock;
  readonly guard: Guard;
  readonly signals: Signals;
  readonly leaseMs: number;
  /** Of the PostgreSQL; null for a store without leases. */
  readonly url: string | null;
}

/** What happens to the jobs. */
interface Losses {
  /** The lease is still ours, but the guard may have begun to end jobs. */
  readonly onLate: () => void;
  /** Ends the jobs and takes another name. Repeated when it rejects. */
  readonly onLost: () => Promise<void>;
}

/**
 * Keeps the lease of the daemon: a separate thread renews it, so that requests which hold the event loop end no job.
 * On a store without leases it does nothing.
 */
export class LeaseKeeper {
  readonly trust: Trust;
  readonly #options: LeaseKeeperOptions;
  readonly #shared = newSharedLease();
  #file: string | null = null;
  #daemonId = '';
  #losses: Losses | null = null;
  #thread: Worker | null = null;
  #cancelTurns: () => void = () => undefined;
  readonly #tried = Promise.withResolvers<void>();
  #hasFailed = false;
  #isStopped = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.trust = new Trust(options.clock, options.leaseMs, this.#shared);
  }

  /**
   * The daemon has this name since a request that was sent at `askedAt` of the monotonic clock; `file` is where the
   * limits for the guard are written from now on.
   */
  follow(daemonId: string, askedAt: number, file: string): void {
    if (this.#options.url === null) return;
    this.#daemonId = daemonId;
    this.#file ??= file;
    this.trust.renewed(askedAt);
    this.#tellGuard();
    this.#thread?.postMessage({ daemonId } satisfies Followed);
  }

  /**
   * Begins to renew the lease. Resolves when the thread has tried it once: to start takes a part of a short lease.
   * Throws unavailable if it does not start.
   */
  async start(losses: Losses): Promise<void> {
    if (this.#options.url === null) return;
    this.#losses = losses;
    this.#countTurns();
    const failure = new Failure('unavailable', 'The thread that renews the lease of this daemon did not start in 1m.');
    const cancel = this.#options.clock.after(START_MAX_MS, () => this.#tried.reject(failure));
    try {
      await Promise.all([this.#startThread(), this.#tried.promise]);
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      cancel();
    }
  }

  /** From here on the lease runs out. Safe without start, and twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#tried.resolve();
    this.#cancelTurns();
    await this.#thread?.terminate();
    if (this.#file !== null) removeLeaseTimes(this.#file, this.#options.clock.now());
  }

  #countTurns(): void {
    countTurn(this.#shared);
    this.#cancelTurns = this.#options.clock.after(TURN_EVERY_MS, () => this.#countTurns());
  }

  async #startThread(): Promise<void> {
    const { url, leaseMs } = this.#options;
    const { Worker } = await import('node:worker_threads');
    if (this.#isStopped || url === null || this.#file === null) return;
    const order: LeaseOrder = { url, leaseMs, shared: this.#shared, file: this.#file, daemonId: this.#daemonId };
    const thread = new Worker(PROGRAM, { workerData: order });
    thread.unref();
    thread.on('message', (news: LeaseNews) => {
      this.#tried.resolve();
      void this.#hear(news).catch((error: unknown) => this.#fail(error));
    });
    thread.on('error', (error) => this.#fail(error));
    thread.on('exit', () => {
      if (this.#isStopped) return;
      this.#options.clock.after(
        RESTART_AFTER_MS,
        () => void this.#startThread().catch((error: unknown) => this.#fail(error)),
      );
    });
    this.#thread = thread;
  }

  async #hear(news: LeaseNews): Promise<void> {
    if (this.#isStopped || news.daemonId !== this.#daemonId) return;
    if ('failed' in news) return this.#fail(new Failure('unavailable', news.failed));
    if (this.#hasFailed) this.#options.signals.emit('loop:recovered', { name: NAME });
    this.#hasFailed = false;
    if (news.renewal === 'late') {
      // Before a job is started again: the guard ends each new one while it thinks that the lease is over.
      this.#tellGuard();
      this.#losses?.onLate();
    }
    if (news.renewal === 'lost') await this.#lose();
  }

  async #lose(): Promise<void> {
    const lost = this.#daemonId;
    try {
      await this.#losses?.onLost();
    } finally {
      // The thread finds out again that it is lost.
      if (this.#daemonId === lost) this.#thread?.postMessage({ daemonId: lost } satisfies Followed);
    }
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#options.signals.emit('loop:failed', { name: NAME, error });
  }

  #tellGuard(): void {
    const { termAt, killAt } = this.trust.times();
    const now = this.trust.now();
    const limits = { untilTermMs: Math.max(0, termAt - now), untilKillMs: Math.max(0, killAt - now) };
    this.#options.guard.renew({ ...limits, file: this.#file });
  }
}
