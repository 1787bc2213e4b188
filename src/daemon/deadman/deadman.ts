import type { Clock } from '../../lib/clock.ts';
import type { MakeLoop, WakeUp } from '../core/loop.ts';
import { StoreClock } from '../core/store-clock.ts';
import { recordService } from '../jobs/job-transitions.ts';
import { listWatches, restWatch, tripWatch, type Watch } from '../../store/deadman/watches.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { requestNotification } from '../../store/notify/notifications.ts';
import type { Store } from '../../store/store.ts';

export interface DeadmanDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly wakeUp: (why: WakeUp) => void;
}

export const DEADMAN_EVERY_MS = 1_000;

/**
 * Requests a notification once when a watch has been silent for too long, and once when it recovers. All times are of
 * the store's clock, because another daemon may receive the messages. The last message of a webhook is in the store, so
 * that a service that restarts more often than `every` still reports a silence.
 */
export class DeadmanWatch {
  readonly #deps: DeadmanDeps;
  readonly #time: StoreClock;
  /**
   * When the clock was last seen to be set ahead, by the monotonic clock: a silence counts from then, because the time
   * that was skipped is no silence. After a sleep of the machine, in which nothing was received, it is the same.
   */
  #aheadAt = Number.NEGATIVE_INFINITY;

  constructor(deps: DeadmanDeps) {
    this.#deps = deps;
    this.#time = new StoreClock(deps);
  }

  /** Returns whether there is a watch. */
  async watchOnce(): Promise<boolean> {
    const { store, clock } = this.#deps;
    const watches = await listWatches(store.db);
    if (watches.length === 0) return false;
    const { now, wasSet } = await this.#time.read();
    if (wasSet === 'ahead') this.#aheadAt = clock.monotonic();
    const sinceAheadMs = clock.monotonic() - this.#aheadAt;
    for (const watch of watches) {
      const { every_ms: everyMs, tripped_at: trippedAt, created_at: createdAt } = watch;
      const heardAt = watch.last_heard_at ?? 0;
      if (trippedAt === null) {
        if (Math.min(now - Math.max(heardAt, createdAt), sinceAheadMs) >= everyMs)
          await reportSilent(this.#deps, watch, now);
        // The silence lasted at least this long: a message within it was committed after the watch was read.
      } else if (heardAt > trippedAt - everyMs) await reportHeard(this.#deps, watch, trippedAt);
    }
    return true;
  }
}

function reportSilent(deps: DeadmanDeps, watch: Watch, at: number): Promise<void> {
  return deps.store.write(async (tx) => {
    if (await tripWatch(tx, watch, at))
      await askForNotification(deps, tx, watch, { heard: false, topic: `deadman:${watch.name}:${at}` });
  });
}

function reportHeard(deps: DeadmanDeps, watch: Watch, trippedAt: number): Promise<void> {
  return deps.store.write(async (tx) => {
    if (await restWatch(tx, watch.name, trippedAt))
      await askForNotification(deps, tx, watch, { heard: true, topic: `deadman:${watch.name}:heard:${trippedAt}` });
  });
}

async function askForNotification(
  { wakeUp }: DeadmanDeps,
  tx: Tx,
  { name, webhook, every_ms: everyMs }: Watch,
  { heard, topic }: { heard: boolean; topic: string },
): Promise<void> {
  await requestNotification(tx, { topic, facts: { kind: 'deadman', name, webhook, everyMs, heard } });
  recordService(tx, heard ? 'deadman.heard' : 'deadman.silent', name, { webhook });
  tx.afterCommit(() => wakeUp('notification-due'));
}

export const deadmanLoop: MakeLoop<DeadmanDeps> = (deps) => {
  const deadman = new DeadmanWatch(deps);
  return {
    name: 'deadman',
    everyMs: DEADMAN_EVERY_MS,
    wakeOn: [],
    restsWithoutCommits: true,
    once: async () => ((await deadman.watchOnce()) ? { dueMs: DEADMAN_EVERY_MS } : {}),
  };
};
