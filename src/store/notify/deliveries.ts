import { type ExpressionBuilder, sql } from 'kysely';
import { countOf } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import { listLiveEndpoints } from './live-endpoints.ts';
import type { Db, DeliveryRow, NotificationRow, Schema } from '../schema/schema.ts';

/** Written out, so that the partial index of what waits serves the query. */
const WAITING = sql<boolean>`deliveries.state = 'waiting'`;

/** A page on its way, with what is to be said. */
export type Due = Pick<DeliveryRow, 'page_id' | 'target' | 'attempts'> & Pick<NotificationRow, 'detail'>;

/** What this daemon is to send by now, the oldest first. */
export function dueDeliveries(db: Db, daemonId: string, now: number, limit: number): Promise<Due[]> {
  return db
    .selectFrom('deliveries')
    .innerJoin('pages', 'pages.id', 'deliveries.page_id')
    .select(['deliveries.page_id', 'deliveries.target', 'deliveries.attempts', 'pages.detail'])
    .where(WAITING)
    .where('deliveries.daemon_id', '=', daemonId)
    .where('deliveries.next_at', '<=', now)
    .orderBy('deliveries.next_at')
    .orderBy('deliveries.page_id')
    .limit(limit)
    .execute();
}

/** When the next try of this daemon is due after `now`, in milliseconds since the epoch; null where none waits. */
export async function nextDelivery(db: Db, daemonId: string, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.min('next_at').as('at'))
    .where(WAITING)
    .where('daemon_id', '=', daemonId)
    .where('next_at', '>', now)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** What was left to a target of `--notify` that no running daemon has waits this long for one that has it: an hour. */
export const TARGET_AWAY_MS = 3_600_000;

/** Of deliveries that daemons that stopped have left, those that this one can send, or gives up at `now`. */
const isForUs = (targets: readonly string[], now: number) => (eb: ExpressionBuilder<Schema, 'deliveries'>) =>
  eb.or([
    eb('deliveries.target', 'like', 'ep_%'),
    ...(targets.length === 0 ? [] : [eb('deliveries.target', 'in', targets)]),
    eb('deliveries.next_at', '<=', now - TARGET_AWAY_MS),
  ]);

/**
 * Takes over what daemons that stopped had still to send: to endpoints, to `targets`, which are its own, and what
 * waited too long for a daemon with its target, which is then given up. Answers how many.
 */
export async function takeOver(tx: Tx, daemonId: string, targets: readonly string[]): Promise<number> {
  const result = await tx.db
    .updateTable('deliveries')
    .set({ daemon_id: daemonId })
    .where(WAITING)
    .where('daemon_id', 'in', (eb) => eb.selectFrom('daemons').select('id').where('stopped_at', 'is not', null))
    .where(isForUs(targets, tx.now))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Whether a daemon that stopped has left something that `takeOver` would take. */
export async function hasLeft(db: Db, targets: readonly string[], now: number): Promise<boolean> {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('daemons', 'daemons.id', 'deliveries.daemon_id')
    .select('deliveries.page_id')
    .where(WAITING)
    .where('daemons.stopped_at', 'is not', null)
    .where(isForUs(targets, now))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

type Settled = Pick<DeliveryRow, 'page_id' | 'target'> & {
  readonly state: 'sent' | 'dead' | 'gone';
  readonly failure: string | null;
};

/** Ends a delivery, and the page where it was the last one. */
export async function settleDelivery(
  tx: Tx,
  { page_id: notificationId, target, state, failure }: Settled,
): Promise<void> {
  await waitingDelivery(tx, { page_id: notificationId, target })
    .set((eb) => ({ state, failure, settled_at: tx.now, attempts: eb('attempts', '+', 1) }))
    .execute();
  await finishNotifications(tx, [notificationId]);
}

/** Gives up what waits for a target that is no more, and ends the pages where it was the last one. */
export async function dropDeliveries(tx: Tx, target: string): Promise<void> {
  const dropped = await tx.db
    .updateTable('deliveries')
    .set({ state: 'gone', settled_at: tx.now })
    .where(WAITING)
    .where('target', '=', target)
    .returning('page_id')
    .execute();
  const notificationIds = dropped.map((row) => row.page_id).toSorted();
  for (let at = 0; at < notificationIds.length; at += FINISHED_AT_ONCE)
    await finishNotifications(tx, notificationIds.slice(at, at + FINISHED_AT_ONCE));
}

/** Pages of one statement: each is a parameter, of which the databases take some 30,000. */
const FINISHED_AT_ONCE = 500;

/**
 * Ends those of the pages for which nothing waits. Of two daemons that each settle one of the last two deliveries of a
 * page, neither sees what the other has not committed: so the row of the page is held first, in the order of ids, and
 * looked at by a statement of its own.
 */
async function finishNotifications(tx: Tx, notificationIds: readonly string[]): Promise<void> {
  await tx.dialect
    .holdRows(tx.db.selectFrom('pages').select('id').where('id', 'in', notificationIds).orderBy('id'))
    .execute();
  await tx.db
    .updateTable('pages')
    .set({ state: 'done' })
    .where('id', 'in', notificationIds)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom('deliveries').select('target').whereRef('page_id', '=', 'pages.id').where(WAITING)),
      ),
    )
    .execute();
}

/** Puts a delivery off to `nextAt`, in milliseconds since the epoch. */
export async function retryDelivery(
  tx: Tx,
  delivery: Pick<DeliveryRow, 'page_id' | 'target'>,
  failure: string,
  nextAt: number,
): Promise<void> {
  await waitingDelivery(tx, delivery)
    .set((eb) => ({ failure, next_at: nextAt, attempts: eb('attempts', '+', 1) }))
    .execute();
}

function waitingDelivery(tx: Tx, { page_id: notificationId, target }: Pick<DeliveryRow, 'page_id' | 'target'>) {
  return tx.db
    .updateTable('deliveries')
    .where('page_id', '=', notificationId)
    .where('target', '=', target)
    .where('state', '=', 'waiting');
}

/**
 * Keeps what else waits for a target from being tried before `until`: what is dead must not fill the places of others.
 */
export async function putOff(tx: Tx, target: string, until: number): Promise<void> {
  await tx.db
    .updateTable('deliveries')
    .set({ next_at: until })
    .where(WAITING)
    .where('target', '=', target)
    .where('next_at', '<', until)
    .execute();
}

/** What the doctor tells. */
interface DeliveryCounts {
  /** The active ones: not those of revoked or expired tokens. */
  readonly endpoints: number;
  /** Endpoints whose last message was not taken. */
  readonly failing: number;
  readonly waiting: number;
  /** Given up since `since`. */
  readonly dead: number;
  readonly lastFailure: string | null;
}

/** `since` and `now` in milliseconds since the epoch; without `now`, tokens count that were good at `since`. */
export async function countDeliveries(db: Db, since: number, now = since): Promise<DeliveryCounts> {
  const endpoints = await listLiveEndpoints(db, now);
  const deadOnes = db
    .selectFrom('deliveries')
    .where(sql<boolean>`state = 'dead'`)
    .where('settled_at', '>', since);
  const last = await deadOnes.select('failure').orderBy('settled_at', 'desc').limit(1).executeTakeFirst();
  return {
    endpoints: endpoints.length,
    failing: endpoints.filter(({ failures }) => failures > 0).length,
    waiting: await countOf(db.selectFrom('deliveries').where(WAITING)),
    dead: await countOf(deadOnes),
    lastFailure: last?.failure ?? null,
  };
}
