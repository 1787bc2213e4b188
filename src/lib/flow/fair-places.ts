import type { Clock } from '../clock.ts';
import { currentHolder } from './in-name-of.ts';

/** What the program does by itself is one holder more. */
const ITSELF = '';

/**
 * A number of places of which each holder gets one in turn: a task waits for those of its holder that came before it,
 * and for one of each other holder at a time.
 */
export class FairPlaces {
  #free: number;
  readonly #queues = new Map<string, Set<() => void>>();

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Undefined where a place is free; afterwards `leave` has to be called once. Rejects after `withinMs` milliseconds
   * with what `late` answers.
   */
  enter(clock: Clock, withinMs: number, late: () => Error): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    const holder = currentHolder()?.holder ?? ITSELF;
    const queue = this.#queues.getOrInsertComputed(holder, () => new Set());
    return new Promise((resolve, reject) => {
      const cancel = clock.after(withinMs, () => {
        this.#remove(holder, queue, go);
        reject(late());
      });
      const go = (): void => {
        cancel();
        resolve();
      };
      queue.add(go);
    });
  }

  leave(): void {
    const [first] = this.#queues;
    if (first === undefined) {
      this.#free += 1;
      return;
    }
    const [holder, queue] = first;
    const [go] = queue;
    // The next place is for another holder.
    this.#queues.delete(holder);
    if (queue.size > 1) this.#queues.set(holder, queue);
    if (go !== undefined) queue.delete(go);
    go?.();
  }

  #remove(holder: string, queue: Set<() => void>, go: () => void): void {
    queue.delete(go);
    if (queue.size === 0) this.#queues.delete(holder);
  }
}
