import type { Clock } from '../../lib/clock.ts';
import { addHistory, removeHistory } from '../../store/checks/history.ts';
import type { SweepReport } from '../../domain/checks/sweep/report.ts';
import { toJson } from '../../lib/json.ts';
import { reportSweep } from '../../store/checks/shards.ts';
import { keepTargetStateLater } from '../../store/checks/sweep.ts';
import type { Store } from '../../store/store.ts';
import { keptState, type SweepTarget } from './target.ts';

/** How often results that changed no state are written, in milliseconds: nothing is decided by them. */
const RESULTS_EVERY_MS = 60_000;
/** How long observations of a target are gathered before they are added to its history, in milliseconds. */
const HISTORY_EVERY_MS = 600_000;
const REPORT_EVERY_MS = 60_000;
/** How long the report of a daemon that is gone is kept, in milliseconds. */
const REPORTS_KEPT_MS = 86_400_000;
/** Targets of one write, so that no other writer waits for long. Their days are read, unpacked and packed. */
const BATCH = 250;
const HISTORY_BATCH = 50;
/** Half hours that are kept while the store refuses writes. */
const HELD_SLOTS = 4;
/** Targets whose history is written in one pass: all that began at the same time do not fall due in one second. */
const HISTORY_PER_PASS = 500;

/**
 * Writes the states and results of targets that need no event, many in one write. After a crash a target may lose what
 * was observed since the last write: a count of disagreeing observations begins again then.
 */
export class Writer {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #self: () => string;
  #resultsAt: number;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor({ store, clock, self }: { readonly store: Store; readonly clock: Clock; readonly self: () => string }) {
    this.#store = store;
    this.#self = self;
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
    const old = targets.filter(
      ({ gathered, gatheredFrom }) => gathered.length > 0 && now - gatheredFrom >= HISTORY_EVERY_MS,
    );
    await this.#writeHistory(old.slice(0, HISTORY_PER_PASS), signal);
  }

  /** Each minute, and at the first call, a report for the doctor. */
  async reportDue(take: () => SweepReport): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    const report = toJson(take());
    await this.#store.write((tx) => reportSweep(tx, this.#self(), report, tx.now - REPORTS_KEPT_MS));
  }

  async writeAll(targets: readonly SweepTarget[]): Promise<void> {
    await this.#write(targets.filter(({ unstored }) => unstored !== 'nothing'));
    await this.#writeHistory(targets.filter(({ gathered }) => gathered.length > 0));
  }

  /** Writes what is known of targets that are not probed here any more; what a removed one had is removed. */
  async writeDropped(targets: readonly SweepTarget[]): Promise<void> {
    await this.writeAll(targets);
    for (let at = 0; at < targets.length; at += BATCH) {
      const batch = targets.slice(at, at + BATCH);
      await this.#store.write(async (tx) => {
        for (const { check, name } of batch) removeHistory(tx, check, name);
      });
    }
  }

  async #write(targets: readonly SweepTarget[], signal?: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal?.aborted === true;
    for (let at = 0; at < targets.length && !isOver(); at += BATCH) {
      // The state of a transition is written with its event.
      await this.#writeBatch(
        targets
          .slice(at, at + BATCH)
          .filter(({ isRecording }) => !isRecording)
          .toSorted(byName),
      );
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

  async #writeHistory(targets: readonly SweepTarget[], signal?: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal?.aborted === true;
    for (let at = 0; at < targets.length && !isOver(); at += HISTORY_BATCH) {
      const batch = targets.slice(at, at + HISTORY_BATCH).map((target) => [target, target.gathered] as const);
      for (const [target] of batch) target.gathered = [];
      try {
        await this.#store.write(async (tx) => {
          for (const [{ check, name }, gathered] of batch) await addHistory(tx, check, name, gathered);
        });
      } catch (error) {
        for (const [target, gathered] of batch) target.gathered = [...gathered, ...target.gathered].slice(-HELD_SLOTS);
        throw error;
      }
    }
  }
}

/** Every write of several targets takes them in this order: two that wait for each other would be undone. */
function byName(a: SweepTarget, b: SweepTarget): number {
  return a.check === b.check ? (a.name < b.name ? -1 : 1) : a.check < b.check ? -1 : 1;
}
