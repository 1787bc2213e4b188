import { type ExpressionBuilder, sql } from 'kysely';
import { mustHold } from '../../lib/invariants/invariants.ts';
import { countedUp } from '../engine/counts.ts';
import { countOf } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import { registeredEndpoints } from './live-endpoints.ts';
import type { Db, DeliveryRow, NotificationRow, Schema } from '../schema/schema.ts';

/** A literal, so that the partial index of waiting deliveries serves the query. */
const WAITING = sql<boolean>`deliveries.state = 'waiting'`;

/** A waiting delivery with the facts of its notification. */
export type Due = Pick<DeliveryRow, 'page_id' | 'target' | 'attempts'> & Pick<NotificationRow, 'detail'>;

/** The deliveries that this daemon must send by `now`, the oldest first. */
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

/** How long a delivery waits for a running daemon that has its target of `--notify`, in milliseconds: an hour. */
export const TARGET_AWAY_MS = 3_600_000;

/** Of the deliveries of daemons that have gone, those that this daemon can send or gives up at `now`. */
const isForUs = (targets: readonly string[], now: number) => (eb: ExpressionBuilder<Schema, 'deliveries'>) =>
  eb.or([
    eb('deliveries.target', 'like', 'ep_%'),
    ...(targets.length === 0 ? [] : [eb('deliveries.target', 'in', targets)]),
    eb('deliveries.next_at', '<=', now - TARGET_AWAY_MS),
  ]);

/** Of stopped daemons, and of those that are not there: a row can be removed. */
const isLeft = (eb: ExpressionBuilder<Schema, 'deliveries'>) =>
  eb('deliveries.daemon_id', 'not in', eb.selectFrom('daemons').select('daemons.id').where('stopped_at', 'is', null));

/**
 * Takes over the waiting deliveries of daemons that have gone: those to endpoints, those to `targets`, which are its
 * own, and those that waited too long for a daemon with their target, which are then given up. Returns their number.
 */
export async function takeOver(tx: Tx, daemonId: string, targets: readonly string[]): Promise<number> {
  const result = await tx.db
    .updateTable('deliveries')
    .set({ daemon_id: daemonId })
    .where(WAITING)
    .where(isLeft)
    .where(isForUs(targets, tx.now))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Whether `takeOver` would take over a delivery. */
export async function hasLeft(db: Db, targets: readonly string[], now: number): Promise<boolean> {
  const row = await db
    .selectFrom('deliveries')
    .select('deliveries.page_id')
    .where(WAITING)
    .where(isLeft)
    .where(isForUs(targets, now))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

type Settled = Pick<DeliveryRow, 'page_id' | 'target'> & {
  readonly state: 'sent' | 'dead' | 'gone';
  readonly failure: string | null;
};

/** Ends a delivery, and the notification where it was the last one. */
export async function settleDelivery(
  tx: Tx,
  { page_id: notificationId, target, state, failure }: Settled,
): Promise<void> {
  const facts = { notification: notificationId, target };
  mustHold('deliver.outcome', { ...facts, state, failure: failure !== null });
  const { numUpdatedRows } = await waitingDelivery(tx, { page_id: notificationId, target })
    .set({ state, failure, settled_at: tx.now, attempts: countedUp('attempts') })
    .executeTakeFirst();
  mustHold('deliver.one', { ...facts, changed: Number(numUpdatedRows) });
  await finishNotifications(tx, [notificationId]);
}

/** Gives up the deliveries to a removed target, and ends the notifications where it was the last one. */
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

/** Notifications of one statement: each is a parameter, of which the databases accept some 30,000. */
const FINISHED_AT_ONCE = 500;

/**
 * Ends the notifications without a waiting delivery. Of two daemons that each end one of the last two deliveries of a
 * notification, neither sees the uncommitted write of the other: so the rows are locked first, in the order of ids, and
 * a separate statement checks them.
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

/** Postpones a delivery to `nextAt`, in milliseconds since the epoch. */
export async function retryDelivery(
  tx: Tx,
  delivery: Pick<DeliveryRow, 'page_id' | 'target'>,
  failure: string,
  nextAt: number,
): Promise<void> {
  await waitingDelivery(tx, delivery)
    .set({ failure, next_at: nextAt, attempts: countedUp('attempts') })
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
 * Postpones all deliveries to a target at least to `until`: a dead target must not take the places of others.
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

/** The figures for the doctor. */
interface DeliveryCounts {
  /** The active ones: not those of revoked or expired tokens. */
  readonly endpoints: number;
  /** Endpoints that did not accept the last message. */
  readonly failing: number;
  readonly waiting: number;
  /** Given up since `since`. */
  readonly dead: number;
  readonly lastFailure: string | null;
}

/** `since` and `now` in milliseconds since the epoch; without `now`, tokens count that were valid at `since`. */
export async function countDeliveries(db: Db, since: number, now = since): Promise<DeliveryCounts> {
  const endpoints = await registeredEndpoints(db, now);
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
