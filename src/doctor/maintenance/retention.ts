import { formatSize } from '../../domain/size.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { AGED, countOld } from '../../store/old-rows.ts';
import { graceUntil, listShortened } from '../../store/maintenance/retention-turn.ts';
import type { Store } from '../../store/store.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** The tables that grow with use. */
const GROWING = ['jobs', 'job_chunks', 'events', 'pages'] as const;
/** Rows are counted up to this number, which takes some milliseconds. */
const COUNTED_MAX = 10_000;
/** Free room that is worth a word, in bytes. */
const FREE_MIN_BYTES = 256 * 2 ** 20;

/** Reports how large the tables are, when old rows were last deleted, and how many will be. */
export function examineRetention({ openedStore, clock, settings }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const sizes = await Promise.all(GROWING.map((table) => sizeOf(store, table)));
    const file = await store.dialect.fileSize(store.db);
    const parts = [
      `${sizes.join(', ')}; ${formatSize(file.bytes)} in all, ${formatSize(file.freeBytes)} of it free.`,
      await shortened(store),
    ];
    const until = await graceUntil(store.db, clock.now());
    parts.push(...(await toDelete(store, settings, clock.now(), until)));
    if (file.cannotShrink && file.freeBytes >= FREE_MIN_BYTES)
      return warn(
        `${parts.join(' ')} The file cannot give free room back, because an older build made it: see "Shrink an old ` +
          'database" in docs/how-to/upgrade.md.',
      );
    return ok(parts.join(' '));
  });
}

async function sizeOf({ db, dialect }: Store, table: (typeof GROWING)[number]): Promise<string> {
  const { rows, bytes } = await dialect.sizeOf(db, table);
  return `${table} about ${rows} rows${bytes === null ? '' : ` (${formatSize(bytes)})`}`;
}

async function shortened({ db }: Store): Promise<string> {
  const rows = (await listShortened(db)).filter((row) => row.shortened_at !== null);
  if (rows.length === 0) return 'No old rows were deleted yet.';
  const deletions = rows.map(
    ({ name, deleted, shortened_at: at }) => `${name} ${rfc3339(at ?? 0)} (${deleted} in all)`,
  );
  return `Old rows last deleted: ${deletions.join(', ')}.`;
}

/** Until the time after an upgrade is over. */
async function toDelete(
  { db }: Store,
  { keepJobsMs, keepEventsMs }: Facts['settings'],
  now: number,
  until: number,
): Promise<string[]> {
  if (now >= until) return [];
  const count = async (name: keyof typeof AGED, keptMs: number): Promise<string | null> => {
    const rows = keptMs === 0 ? 0 : await countOld(db, AGED[name], until - keptMs, COUNTED_MAX);
    if (rows === 0) return null;
    return rows >= COUNTED_MAX ? `${COUNTED_MAX} or more ${name}` : `up to ${rows} ${name}`;
  };
  const all = [await count('jobs', keepJobsMs), await count('events', keepEventsMs)];
  const found = all.filter((each) => each !== null);
  if (found.length === 0) return [];
  return [`From ${rfc3339(until)} on, ${found.join(' and ')} are deleted; --keep-jobs and --keep-events keep them.`];
}
