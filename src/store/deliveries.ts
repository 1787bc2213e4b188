import { sql } from 'kysely';
import type { Tx } from './gate.ts';
import type { Db, DeliveryRow, PageRow } from './schema.ts';

/** Written out, so that the partial index of what waits serves the query. */
const WAITING = sql<boolean>`deliveries.state = 'waiting'`;

/** A page on its way, with what is to be said. */
export type Due = DeliveryRow & Pick<PageRow, 'kind' | 'detail' | 'approval_id' | 'created_at'>;

/** What this daemon is to send by now, the oldest first. */
export function dueDeliveries(db: Db, daemonId: string, now: number, limit: number): Promise<Due[]> {
  return db
    .selectFrom('deliveries')
    .innerJoin('pages', 'pages.id', 'deliveries.page_id')
    .selectAll('deliveries')
    .select(['pages.kind', 'pages.detail', 'pages.approval_id', 'pages.created_at'])
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

/** Takes over what daemons that stopped had still to send; answers how many. */
export async function takeOver(tx: Tx, daemonId: string): Promise<number> {
  const result = await tx.db
    .updateTable('deliveries')
    .set({ daemon_id: daemonId })
    .where(WAITING)
    .where('daemon_id', 'in', (eb) => eb.selectFrom('daemons').select('id').where('stopped_at', 'is not', null))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Whether a daemon that stopped has left something to send. */
export async function hasLeft(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('daemons', 'daemons.id', 'deliveries.daemon_id')
    .select('deliveries.page_id')
    .where(WAITING)
    .where('daemons.stopped_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export type Settled = Pick<DeliveryRow, 'page_id' | 'target'> & { readonly state: 'sent' | 'dead' | 'gone'; readonly failure: string | null };

/** Ends a delivery, and the page where it was the last one. */
export async function settleDelivery(tx: Tx, { page_id: pageId, target, state, failure }: Settled): Promise<void> {
  await tx.db
    .updateTable('deliveries')
    .set((eb) => ({ state, failure, settled_at: tx.now, attempts: eb('attempts', '+', 1) }))
    .where('page_id', '=', pageId)
    .where('target', '=', target)
    .where('state', '=', 'waiting')
    .execute();
  await tx.db
    .updateTable('pages')
    .set({ state: 'done' })
    .where('id', '=', pageId)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('deliveries').select('target').where('page_id', '=', pageId).where('state', '=', 'waiting'))))
    .execute();
}

/** Puts a delivery off to `nextAt`, in milliseconds since the epoch. */
export async function retryDelivery(tx: Tx, { page_id: pageId, target }: Pick<DeliveryRow, 'page_id' | 'target'>, failure: string, nextAt: number): Promise<void> {
  await tx.db
    .updateTable('deliveries')
    .set((eb) => ({ failure, next_at: nextAt, attempts: eb('attempts', '+', 1) }))
    .where('page_id', '=', pageId)
    .where('target', '=', target)
    .where('state', '=', 'waiting')
    .execute();
}

/** Keeps what else waits for a target from being tried before `until`: what is dead must not fill the places of others. */
export async function putOff(tx: Tx, target: string, until: number): Promise<void> {
  await tx.db.updateTable('deliveries').set({ next_at: until }).where(WAITING).where('target', '=', target).where('next_at', '<', until).execute();
}

/** What the doctor tells. */
export interface DeliveryCounts {
  readonly endpoints: number;
  /** Endpoints whose last message was not taken. */
  readonly failing: number;
  readonly waiting: number;
  /** Given up since `since`. */
  readonly dead: number;
  readonly lastFailure: string | null;
}

export async function countDeliveries(db: Db, since: number): Promise<DeliveryCounts> {
  const endpoints = await db.selectFrom('endpoints').select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const failing = await db.selectFrom('endpoints').select((eb) => eb.fn.countAll<number>().as('count')).where('failures', '>', 0).executeTakeFirstOrThrow();
  const waiting = await db.selectFrom('deliveries').select((eb) => eb.fn.countAll<number>().as('count')).where(WAITING).executeTakeFirstOrThrow();
  const deadOnes = db.selectFrom('deliveries').where(sql<boolean>`state = 'dead'`).where('settled_at', '>', since);
  const dead = await deadOnes.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const last = await deadOnes.select('failure').orderBy('settled_at', 'desc').limit(1).executeTakeFirst();
  return {
    endpoints: endpoints.count,
    failing: failing.count,
    waiting: waiting.count,
    dead: dead.count,
    lastFailure: last?.failure ?? null,
  };
}
