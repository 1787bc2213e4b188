import type { Guard } from '../../../src/runners/process/guard.ts';
import type { LeaseLimits } from '../../../src/runners/process/guard-protocol.ts';
import { readLeaseTimes } from '../../../src/runners/process/lease-times.ts';
import { GRACE_DEFAULT_MS } from '../../../src/runners/process/tree.ts';
import { theWorld } from '../world/current.ts';

const NOTHING = (): Promise<void> => Promise.resolve();

/**
 * The guard of one life of a daemon, in the order of `runners/process/guard-child.ts`: it ends the tools when the
 * lease is not renewed in time, and when the daemon has died. It belongs to no daemon: it continues when its own is
 * stopped or killed.
 */
export class SimulatedGuard implements Guard {
  readonly #term: () => void;
  readonly #kill: () => void;
  #lease: (Pick<LeaseLimits, 'file'> & { readonly killAt: number; readonly cancel: () => void }) | null = null;
  #isOverdue = false;

  /** `term` and `kill` act on the tools of the daemon that are alive then. */
  constructor(ends: { readonly term: () => void; readonly kill: () => void }) {
    this.#term = ends.term;
    this.#kill = ends.kill;
  }

  readonly ready = NOTHING;
  readonly stop = NOTHING;

  /** It acts on what is alive. */
  watch(): void {}
  unwatch(): void {}

  /** A tool of a daemon whose lease is over is ended before it is started, or soon after. False for the first. */
  mayStart(): boolean {
    if (!this.#isOverdue || this.#lease === null) return true;
    return this.#lease.killAt > theWorld().now;
  }

  started(): void {
    if (this.#isOverdue && this.#lease !== null) this.#endBy(this.#lease.killAt);
  }

  renew({ untilTermMs, untilKillMs, file }: LeaseLimits): void {
    const world = theWorld();
    this.#lease?.cancel();
    this.#isOverdue = false;
    const killAt = world.now + untilKillMs;
    const cancel = world.later('guard', untilTermMs, () => {
      const later = file === null ? null : readLeaseTimes(file);
      if (later !== null && later.termAt > world.now)
        return this.renew({ untilTermMs: later.termAt - world.now, untilKillMs: later.killAt - world.now, file });
      world.note('a guard ends the tools: the lease was not renewed');
      this.#isOverdue = true;
      this.#endBy(killAt);
    });
    this.#lease = { file, killAt, cancel };
  }

  daemonDied(): void {
    const { now } = theWorld();
    const { file = null, killAt = Number.POSITIVE_INFINITY } = this.#lease ?? {};
    const later = file === null ? null : readLeaseTimes(file);
    this.#lease?.cancel();
    this.#lease = null;
    this.#endBy(Math.min(now + GRACE_DEFAULT_MS, Math.max(now, killAt, later?.killAt ?? 0)));
  }

  #endBy(killAt: number): void {
    const world = theWorld();
    this.#term();
    world.later('guard', killAt - world.now, () => this.#kill());
  }
}
