import type { FairPlaces } from '../../lib/flow/fair-places.ts';
import type { ProbeResult } from '../../probes/probe.ts';

/**
 * One probe for all its callers. It waits for a place in the name of each of their holders and takes the first one: a
 * holder does not wait behind all probes of another because they share a target.
 */
export class SharedProbe {
  readonly #run: (stop: AbortSignal) => Promise<ProbeResult>;
  readonly #ended = Promise.withResolvers<ProbeResult>();
  readonly #stop = new AbortController();
  /** Leaves the queue of each holder in whose name the probe waits. */
  readonly #queued = new Map<string, () => void>();
  #hasBegun = false;
  #callers = 0;

  constructor(run: (stop: AbortSignal) => Promise<ProbeResult>) {
    this.#run = run;
  }

  get result(): Promise<ProbeResult> {
    return this.#ended.promise;
  }

  get hasCallers(): boolean {
    return this.#callers > 0;
  }

  /** Whether one more probe would wait in the name of `holder`. */
  isNewFor(holder: string): boolean {
    return !this.#hasBegun && !this.#queued.has(holder);
  }

  /** Adds a caller, which has to leave once. */
  join(places: FairPlaces, holder: string): void {
    this.#callers += 1;
    if (!this.isNewFor(holder)) return;
    const drop = places.request(holder, (giveBack) => this.#begin(giveBack));
    if (!this.#hasBegun) this.#queued.set(holder, drop);
  }

  /** The probe ends with its last caller, whether it runs or waits. */
  leave(): void {
    this.#callers -= 1;
    if (this.#callers > 0) return;
    this.#leaveQueues();
    this.#stop.abort();
    if (!this.#hasBegun) this.#ended.reject(this.#stop.signal.reason);
  }

  #begin(giveBack: () => void): void {
    this.#hasBegun = true;
    this.#leaveQueues();
    this.#ended.resolve(this.#run(this.#stop.signal).finally(giveBack));
  }

  #leaveQueues(): void {
    for (const drop of this.#queued.values()) drop();
    this.#queued.clear();
  }
}
