import type { Clock } from '../../lib/clock.ts';
import { keepTargetStateLater } from '../../store/checks/sweep.ts';
import type { Store } from '../../store/store.ts';
import { keptState, type SweepTarget } from './target.ts';

/** How often results that changed no state are written, in milliseconds: nothing is decided by them. */
const RESULTS_EVERY_MS = 60_000;
/** Targets of one write, so that no other writer waits for long. */
const BATCH = 250;

/**
 * Writes the states and results of targets that need no event, many in one write. After a crash a target may lose what
 * was observed since the last write: a count of disagreeing observations begins again then.
 */
export class Writer {
  readonly #store: Store;
  readonly #clock: Clock;
  #resultsAt: number;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
    this.#resultsAt = clock.monotonic();
  }

  /** A pass: states at once, and results from time to time. */
  async writeDue(targets: readonly SweepTarget[], signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const withResults = now - this.#resultsAt >= RESULTS_EVERY_MS;
    if (withResults) this.#resultsAt = now;
    const due = targets.filter(({ unstored }) => unstored === 'state' || (withResults && unstored === 'result'));
    await this.#write(due, signal);
  }

  async writeAll(targets: readonly SweepTarget[]): Promise<void> {
    await this.#write(targets.filter(({ unstored }) => unstored !== 'nothing'));
  }

  async #write(targets: readonly SweepTarget[], signal?: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal?.aborted === true;
    for (let at = 0; at < targets.length && !isOver(); at += BATCH) {
      // The state of a transition is written with its event.
      await this.#writeBatch(targets.slice(at, at + BATCH).filter(({ isRecording }) => !isRecording));
    }
  }

  async #writeBatch(batch: readonly SweepTarget[]): Promise<void> {
    const states = batch.map((target) => [target, keptState(target, target.state.status), target.unstored] as const);
    for (const target of batch) target.unstored = 'nothing';
    try {
      await this.#store.write(async (tx) => {
        for (const [, state] of states) keepTargetStateLater(tx, state);
      });
    } catch (error) {
      for (const [target, , unstored] of states) if (target.unstored !== 'state') target.unstored = unstored;
      throw error;
    }
    for (const [target, { status }] of states) target.storedStatus = status;
  }
}
