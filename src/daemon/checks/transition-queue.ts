import { Failure } from '../../domain/failure.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import type { CheckTransition } from '../../reaction/check-transition.ts';
import type { ProbeOrder } from './target.ts';

/** A transition with its target, and what happens once it is written. */
export interface QueuedTransition extends Omit<CheckTransition, 'netgroup'> {
  readonly order: ProbeOrder;
  readonly written: () => void;
}

interface QueueOptions {
  readonly clock: Clock;
  readonly record: (changes: readonly QueuedTransition[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Transitions of one transaction: when thousands of targets fail at once, other writes come in between. */
const BATCH = 100;
/** The pause after the store refused a write, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * Writes transitions in their order, those that wait together. A target has at most one in the queue. One that the
 * store does not accept now stays until it does.
 */
export class TransitionQueue {
  readonly #options: QueueOptions;
  readonly #stopping = new AbortController();
  #waiting: QueuedTransition[] = [];
  #draining: Promise<void> | null = null;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  add(change: QueuedTransition): void {
    this.#waiting.push(change);
    this.#draining ??= this.#drain();
  }

  /** Waits until all are written. */
  async settled(): Promise<void> {
    while (this.#draining !== null) await this.#draining;
  }

  /** Waits until all are written, or until the store refuses one: then that one is observed again later. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Those that are added in the same turn share the first batch.
    await Promise.resolve();
    let isRefused = false;
    while (this.#waiting.length > 0 && !isRefused) isRefused = await this.#writeBatch();
    this.#draining = null;
  }

  /** True where the store refused it and the sweep ends. */
  async #writeBatch(): Promise<boolean> {
    const { clock, record, onError } = this.#options;
    const batch = this.#waiting.slice(0, BATCH);
    try {
      await record(batch);
    } catch (error) {
      onError(error);
      if (error instanceof Failure) return !(await pause(clock, RETRY_MS, this.#stopping.signal));
    }
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { written } of batch) written();
    return false;
  }
}
