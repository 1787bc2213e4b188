import type { Clock } from '../lib/clock.ts';
import { listWatches, restWatch, tripWatch, type Watch } from '../store/deadmen.ts';
import { requestPage } from '../store/pages.ts';
import type { Store } from '../store/store.ts';

export interface DeadmanDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** When this daemon began to listen: before that, nothing could be heard. In milliseconds since the epoch. */
  readonly since: number;
  /** There is a page to send. */
  readonly wake: () => void;
}

export const DEADMAN_EVERY_MS = 1_000;

/** Asks for a page once when a watch has been silent for too long, and once when it is heard again. */
export async function watchOnce(deps: DeadmanDeps): Promise<void> {
  const { store, clock } = deps;
  for (const watch of await listWatches(store.db)) {
    const heardAt = watch.last_heard_at ?? 0;
    if (watch.tripped_at !== null) {
      if (heardAt > watch.tripped_at) await tell(deps, watch, true);
    } else if (clock.now() - Math.max(heardAt, watch.created_at, deps.since) >= watch.every_ms) await tell(deps, watch, false);
  }
}

async function tell({ store, clock, wake }: DeadmanDeps, watch: Watch, heard: boolean): Promise<void> {
  const { name, webhook, every_ms: everyMs, tripped_at: trippedAt } = watch;
  const at = clock.now();
  await store.write(async (tx) => {
    const moved = heard ? await restWatch(tx, name, trippedAt ?? 0) : await tripWatch(tx, name, at);
    if (!moved) return;
    const topic = `deadman:${name}:${heard ? `heard:${trippedAt ?? 0}` : at}`;
    await requestPage(tx, { topic, facts: { kind: 'deadman', name, webhook, everyMs, heard } });
    tx.record({ principal: 'gatehouse', owner: 'gatehouse', via: 'daemon', operation: heard ? 'deadman.heard' : 'deadman.silent', target: name, detail: { webhook } });
    tx.afterCommit(wake);
  });
}
