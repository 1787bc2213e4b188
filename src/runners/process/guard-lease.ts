import type { Clock } from '../../lib/clock.ts';
import type { LeaseLimits } from './guard-protocol.ts';
import { readLeaseTimes } from './lease-times.ts';
import { GRACE_DEFAULT_MS } from './tree.ts';

interface Current {
  readonly file: LeaseLimits['file'];
  /** In the time of the monotonic clock. */
  readonly killAt: number;
  readonly cancel: () => void;
}

/** What a guard knows of the lease of its daemon: when it must end the jobs, and how long they may take to end. */
export class GuardLease {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #end: (graceMs: number) => void;
  /** The file has later limits where the thread of the lease wrote them. */
  #current: Current | null = null;
  #isOverdue = false;

  /** `end` ends what runs, with SIGKILL after `graceMs`: the lease was not renewed in time. */
  constructor(clock: Pick<Clock, 'monotonic' | 'after'>, end: (graceMs: number) => void) {
    this.#clock = clock;
    this.#end = end;
  }

  renew({ untilTermMs, untilKillMs, file }: LeaseLimits): void {
    this.close();
    const killAt = this.#clock.monotonic() + untilKillMs;
    const cancel = this.#clock.after(untilTermMs, () => {
      const now = this.#clock.monotonic();
      const later = file === null ? null : readLeaseTimes(file);
      if (later !== null && later.termAt > now)
        return this.renew({ untilTermMs: later.termAt - now, untilKillMs: later.killAt - now, file });
      this.#isOverdue = true;
      this.#end(Math.max(0, killAt - now));
    });
    this.#current = { file, killAt, cancel };
  }

  /** Milliseconds that a job has which is found running now; null without a lease that has ended. */
  overdueGraceMs(): number | null {
    if (!this.#isOverdue || this.#current === null) return null;
    return Math.max(0, this.#current.killAt - this.#clock.monotonic());
  }

  /**
   * Milliseconds that jobs have when the daemon has died. Once the lease has ended, another machine may run jobs with
   * the keys of these: nothing of them may be left then.
   */
  graceOfDeadMs(): number {
    if (this.#current === null) return GRACE_DEFAULT_MS;
    const { file, killAt } = this.#current;
    const later = file === null ? null : readLeaseTimes(file);
    const left = Math.max(killAt, later?.killAt ?? 0) - this.#clock.monotonic();
    return Math.max(0, Math.min(GRACE_DEFAULT_MS, left));
  }

  /** Forgets the lease. */
  close(): void {
    this.#current?.cancel();
    this.#current = null;
    this.#isOverdue = false;
  }
}
