import type { Clock } from '../../lib/clock.ts';
import type { LoopRow, WakeUp } from '../core/loop.ts';
import { recordService } from '../jobs/job-transitions.ts';
import { listWatches, restWatch, tripWatch, type Watch } from '../../store/events/deadmen.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { requestNotification } from '../../store/notify/notifications.ts';
import type { Store } from '../../store/store.ts';

export interface DeadmanDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** A notification is due. */
  readonly wake: () => void;
}

export const DEADMAN_EVERY_MS = 1_000;

/**
 * Requests a notification once when a watch has been silent for too long, and once when it recovers. All times are of
 * the store's clock, because another daemon may receive the messages. The last message of a webhook is in the store, so
 * that a service that restarts more often than `every` still reports a silence. Returns whether there is a watch.
 */
export async function watchOnce(deps: DeadmanDeps): Promise<boolean> {
  const { store, clock } = deps;
  const watches = await listWatches(store.db);
  if (watches.length === 0) return false;
  const now = await store.dialect.clock(store.db, clock.now());
  for (const watch of watches) {
    const { every_ms: everyMs, tripped_at: trippedAt, created_at: createdAt } = watch;
    const heardAt = watch.last_heard_at ?? 0;
    if (trippedAt === null) {
      if (now - Math.max(heardAt, createdAt) >= everyMs) await reportSilent(deps, watch, now);
      // The silence lasted at least this long: a message within it was committed after the watch was read.
    } else if (heardAt > trippedAt - everyMs) await reportHeard(deps, watch, trippedAt);
  }
  return true;
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
  { wake }: DeadmanDeps,
  tx: Tx,
  { name, webhook, every_ms: everyMs }: Watch,
  { heard, topic }: { heard: boolean; topic: string },
): Promise<void> {
  await requestNotification(tx, { topic, facts: { kind: 'deadman', name, webhook, everyMs, heard } });
  recordService(tx, heard ? 'deadman.heard' : 'deadman.silent', name, { webhook });
  tx.afterCommit(wake);
}

export const deadmanLoop: LoopRow<Omit<DeadmanDeps, 'wake'> & { readonly wakeUp: (why: WakeUp) => void }> = {
  name: 'deadman',
  everyMs: DEADMAN_EVERY_MS,
  wakeOn: [],
  restsWithoutCommits: true,
  async once({ store, clock, wakeUp }) {
    const isWatching = await watchOnce({ store, clock, wake: () => wakeUp('notification-due') });
    return isWatching ? { dueMs: DEADMAN_EVERY_MS } : {};
  },
};
