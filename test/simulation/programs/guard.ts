import type { Guard } from '../../../src/runners/process/guard.ts';
import { GuardLease } from '../../../src/runners/process/guard-lease.ts';
import type { LeaseLimits } from '../../../src/runners/process/guard-protocol.ts';
import { theWorld } from '../world/current.ts';

const NOTHING = (): Promise<void> => Promise.resolve();

/**
 * The guard of one life of a daemon, with the lease of the real one: it ends the tools when the lease is not renewed
 * in time, and when the daemon has died. It belongs to no daemon: it continues when its own is stopped or killed.
 */
export class SimulatedGuard implements Guard {
  readonly #term: () => void;
  readonly #kill: () => void;
  readonly #lease: GuardLease;

  /** `term` and `kill` act on the tools of the daemon that are alive then. */
  constructor(ends: { readonly term: () => void; readonly kill: () => void }) {
    this.#term = ends.term;
    this.#kill = ends.kill;
    const world = theWorld();
    const clock = {
      monotonic: () => world.now,
      after: (ms: number, then: () => void) => world.later('guard', ms, then),
    };
    this.#lease = new GuardLease(clock, (graceMs) => {
      world.note('a guard ends the tools: the lease was not renewed');
      this.#end(graceMs);
    });
  }

  readonly ready = NOTHING;
  readonly stop = NOTHING;

  /** It acts on what is alive. */
  watch(): void {}
  unwatch(): void {}

  /** A tool of a daemon whose lease is over is ended before it is started, or soon after. False for the first. */
  mayStart(): boolean {
    return this.#lease.overdueGraceMs() !== 0;
  }

  started(): void {
    const graceMs = this.#lease.overdueGraceMs();
    if (graceMs !== null) this.#end(graceMs);
  }

  renew(limits: LeaseLimits): void {
    this.#lease.renew(limits);
  }

  daemonDied(): void {
    const graceMs = this.#lease.graceOfDeadMs();
    this.#lease.close();
    this.#end(graceMs);
  }

  #end(graceMs: number): void {
    this.#term();
    theWorld().later('guard', graceMs, () => this.#kill());
  }
}
