import type { Clock } from '../clock.ts';
import { currentHolder } from './in-name-of.ts';

/** What the program does by itself is one holder more. */
const ITSELF = '';

/** Called by a holder that has a place; the function that it gets gives the place back, and has to be called once. */
type Go = (leave: () => void) => void;

/**
 * A number of places of which each holder gets one in turn: a task waits for those of its holder that came before it,
 * and for one of each other holder at a time. Where tasks take long, some places can be kept free for holders that
 * have none.
 */
export class FairPlaces {
  readonly #ownPerFree: number;
  #free: number;
  readonly #taken = new Map<string, number>();
  readonly #queues = new Map<string, Set<Go>>();

  /** A holder gets one more place only while it has fewer than `ownPerFree` for each free one. */
  constructor(places: number, ownPerFree = Number.POSITIVE_INFINITY) {
    this.#free = places;
    this.#ownPerFree = ownPerFree;
  }

  /** How many tasks of a holder wait. */
  waiting(holder: string): number {
    return this.#queues.get(holder)?.size ?? 0;
  }

  /**
   * What gives the place back, once: at once where the current holder may have one. Rejects after `withinMs`
   * milliseconds with what `late` answers.
   */
  enter(clock: Clock, withinMs: number, late: () => Error): (() => void) | Promise<() => void> {
    const holder = currentHolder()?.holder ?? ITSELF;
    if (this.#mayTake(holder)) return this.#take(holder);
    return new Promise((resolve, reject) => {
      const drop = this.request(holder, (leave) => {
        cancel();
        resolve(leave);
      });
      const cancel = clock.after(withinMs, () => {
        drop();
        reject(late());
      });
    });
  }

  /** Calls `go` when the holder has a place, before this returns where it may have one. The result ends the waiting. */
  request(holder: string, go: Go): () => void {
    if (this.#mayTake(holder)) {
      go(this.#take(holder));
      return () => undefined;
    }
    const queue = this.#queues.getOrInsertComputed(holder, () => new Set());
    queue.add(go);
    return () => {
      if (queue.delete(go) && queue.size === 0) this.#queues.delete(holder);
    };
  }

  #mayTake(holder: string): boolean {
    return this.#free > 0 && (this.#taken.get(holder) ?? 0) < this.#free * this.#ownPerFree;
  }

  #take(holder: string): () => void {
    this.#free -= 1;
    this.#taken.set(holder, (this.#taken.get(holder) ?? 0) + 1);
    return () => this.#leave(holder);
  }

  #leave(holder: string): void {
    this.#free += 1;
    const left = (this.#taken.get(holder) ?? 0) - 1;
    if (left > 0) this.#taken.set(holder, left);
    else this.#taken.delete(holder);
    // Two can be next: the one that gets the place, and this holder, which has one fewer.
    for (let next = this.#next(); next !== null; next = this.#next()) this.#start(next);
  }

  /** The first holder in turn that may have a place; null without one. */
  #next(): [string, Set<Go>] | null {
    for (const entry of this.#queues) if (this.#mayTake(entry[0])) return entry;
    return null;
  }

  #start([holder, queue]: [string, Set<Go>]): void {
    const [go] = queue;
    // The next place is for another holder.
    this.#queues.delete(holder);
    if (queue.size > 1) this.#queues.set(holder, queue);
    if (go === undefined) return;
    queue.delete(go);
    go(this.#take(holder));
  }
}
