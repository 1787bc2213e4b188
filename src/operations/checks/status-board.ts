/** What the public status page says of checks: a state and shares for each, and nothing of their targets. */
import type { TargetStatus } from '../../domain/checks/check.ts';
import type { Uptime } from '../../domain/checks/sweep/availability.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { readUptime } from '../../store/checks/history.ts';
import { countStatuses } from '../../store/checks/targets.ts';
import type { Store } from '../../store/store.ts';
import { HISTORY_TARGETS_MAX } from './history-view.ts';

/** The history is written every ten minutes: to read it more often shows nothing new. In milliseconds. */
const UPTIME_EVERY_MS = 300_000;

/** `partly` where some targets are up; `unknown` also for a check that is disabled or does not exist. */
export type BoardState = 'up' | 'partly' | 'down' | 'unknown';

export interface BoardEntry {
  readonly name: string;
  readonly state: BoardState;
  /** Null where it is not known, and for a check of more than 200 targets. */
  readonly uptime: Uptime | null;
}

type Counts = Readonly<Partial<Record<TargetStatus, number>>>;

/** Reads the checks of these names each time it is called, and their history from time to time. */
export function boardReader(
  store: Store,
  clock: Clock,
  names: readonly string[],
): () => Promise<readonly BoardEntry[]> {
  const uptimes = new Map<string, Uptime>();
  let readAt: number | null = null;

  async function readUptimes(targets: ReadonlyMap<string, Counts>): Promise<void> {
    const now = await store.dialect.clock(store.db, clock.now());
    for (const name of names) {
      uptimes.delete(name);
      const count = Object.values(targets.get(name) ?? {}).reduce((sum, each) => sum + each, 0);
      if (count === 0 || count > HISTORY_TARGETS_MAX) continue;
      uptimes.set(name, await readUptime(store.db, name, now));
      await nextTurn();
    }
  }

  return async () => {
    if (names.length === 0) return [];
    const rows = Map.groupBy(await countStatuses(store.db, names), ({ check_name: name }) => name);
    const targets = new Map<string, Counts>(
      [...rows].map(([name, all]) => [name, Object.fromEntries(all.map(({ status, count }) => [status, count]))]),
    );
    if (readAt === null || clock.monotonic() - readAt >= UPTIME_EVERY_MS) {
      await readUptimes(targets);
      readAt = clock.monotonic();
    }
    return names.map((name) => ({
      name,
      state: stateOf(targets.get(name) ?? {}),
      uptime: targets.has(name) ? (uptimes.get(name) ?? null) : null,
    }));
  };
}

function stateOf({ up = 0, down = 0 }: Counts): BoardState {
  if (down > 0) return up > 0 ? 'partly' : 'down';
  return up > 0 ? 'up' : 'unknown';
}
