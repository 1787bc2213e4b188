import { sql } from 'kysely';
import { FOLD_KINDS } from '../../domain/notifications.ts';
import { SINGLE_MAX } from '../../domain/notify/burst.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, NotificationRow } from '../schema/schema.ts';

/** Written as in the partial indexes `pages_waiting` and `pages_shown`. */
const WAITING = sql<boolean>`pages.state = 'new' and pages.burst is not null`;
const SHOWN = sql<boolean>`pages.state <> 'new' and pages.reason is null and pages.burst is not null`;

/** Notifications of one burst that have no targets yet. */
export interface WaitingBurst {
  readonly burst: string;
  /** How many, counted up to SINGLE_MAX + 1. */
  readonly waiting: number;
  /** When the oldest was asked for, in milliseconds since the epoch. */
  readonly oldestAt: number;
}

/**
 * Every burst that waits. This runs at each commit, also while ten thousand notifications wait: so the query skips
 * through the index from name to name, and counts no further than it needs.
 */
export async function waitingBursts(db: Db): Promise<readonly WaitingBurst[]> {
  const { rows } = await sql<WaitingBurst>`
    with recursive names (burst) as (
      select min(burst) from pages where ${WAITING}
      union all
      select (select min(pages.burst) from pages where ${WAITING} and pages.burst > names.burst)
      from names
      where names.burst is not null
    )
    select
      names.burst as "burst",
      (select count(*) from (
        select 1 from pages where ${WAITING} and pages.burst = names.burst limit ${SINGLE_MAX + 1}
      ) as oldest) as "waiting",
      (
        select pages.created_at from pages where ${WAITING} and pages.burst = names.burst
        order by pages.created_at limit 1
      ) as "oldestAt"
    from names
    where names.burst is not null
  `.execute(db);
  return rows;
}

/** How many notifications of a burst were shown within `windowMs` of `now`: single ones, and summaries of others. */
export async function countShown(
  db: Db,
  burst: string,
  now: number,
  windowMs: number,
): Promise<{ shown: number; folded: number }> {
  const rows = await db
    .selectFrom('pages')
    .select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
    .where(SHOWN)
    .where('burst', '=', burst)
    .where('created_at', '>', now - windowMs)
    .where('created_at', '<', now + windowMs)
    .groupBy('kind')
    .execute();
  const sum = (folds: boolean): number =>
    rows
      .filter(({ kind }) => FOLD_KINDS.some((each) => each === kind) === folds)
      .reduce((total, { count }) => total + count, 0);
  return { shown: sum(false), folded: sum(true) };
}

/** Those that have waited longest. */
export function oldestWaiting(db: Db, burst: string, limit: number): Promise<NotificationRow[]> {
  return db
    .selectFrom('pages')
    .selectAll()
    .where(WAITING)
    .where('burst', '=', burst)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Replaces all that wait of a burst by the notification `speaker`; returns them, the oldest first. */
export async function foldWaiting(
  tx: Tx,
  burst: string,
  speaker: string,
): Promise<Pick<NotificationRow, 'id' | 'detail' | 'created_at'>[]> {
  const rows = await tx.db
    .updateTable('pages')
    .set({ state: 'done', reason: `sent with ${speaker}` })
    .where(WAITING)
    .where('burst', '=', burst)
    .returning(['id', 'detail', 'created_at'])
    .execute();
  return rows.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}
