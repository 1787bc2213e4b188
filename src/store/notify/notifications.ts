import { sql } from 'kysely';
import { burstOf, type NotificationFacts } from '../../domain/notifications.ts';
import { idFloor, newId } from '../../lib/id.ts';
import { toJson } from '../../lib/json.ts';
import { prepared } from '../engine/prepared.ts';
import { countOf, hasChanged, insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, DeliveryRow, NotificationRow } from '../schema/schema.ts';

interface NewNotification {
  readonly id?: string;
  /** Its kind and subject: a second notification of a topic is not made. */
  readonly topic: string;
  readonly facts: NotificationFacts;
  /** Never folded with others: a user requested this notification. */
  readonly alone?: boolean;
}

/**
 * Requests a notification; the next pass of a daemon gives it its targets and sends it. Returns its id; null, without a
 * write, if the topic has one. The caller wakes the daemons after the commit (`tx.afterCommit`).
 */
export async function requestNotification(tx: Tx, asked: NewNotification): Promise<string | null> {
  return insertNotification(tx, asked, { state: 'new', reason: null, followed: 0 });
}

/** As `requestNotification`, in another state: suppressed by a mute, or folded into another notification. */
export async function insertNotification(
  tx: Tx,
  { id: given, topic, facts, alone = false }: NewNotification,
  some: Pick<NotificationRow, 'state' | 'reason' | 'followed'>,
): Promise<string | null> {
  const id: string = given ?? newId('page', tx.now);
  const row: NotificationRow = {
    ...some,
    id,
    topic,
    kind: facts.kind,
    job_id: 'jobId' in facts ? facts.jobId : null,
    approval_id: 'approvalId' in facts ? facts.approvalId : null,
    detail: toJson(facts),
    created_at: tx.now,
    burst: alone ? null : burstOf(facts),
  };
  return (await insertRow(tx.db, 'pages', row, 'skip')) ? id : null;
}

/** A literal, so that the partial index of pending approvals serves the query. */
const PENDING = sql<boolean>`approvals.state = 'pending'`;

// What follows finds the ids of requests: the row of one may have a value that no read takes, so each is read apart.

/** Pending approvals without a notification of this topic, the oldest first; `now` by the store's clock. */
function pendingWithout(topic: string, db: Db, now: number, limit: number) {
  return db
    .selectFrom('approvals')
    .select('approvals.id')
    .where(PENDING)
    .where('approvals.expires_at', '>', now)
    .where(sql<boolean>`not exists (select 1 from pages where pages.topic = ${sql.lit(`${topic}:`)} || approvals.id)`)
    .orderBy('approvals.id')
    .limit(limit);
}

/** Pending approvals that were not announced yet. */
export async function unannouncedApprovals(db: Db, now: number, limit: number): Promise<string[]> {
  return idsOf(await pendingWithout('approval', db, now, limit).execute());
}

/** Whether one of the pending approvals that were not announced yet ends before `end`, by the store's clock. */
export async function isUnannouncedDue(db: Db, now: number, end: number): Promise<boolean> {
  const due = pendingWithout('approval', db, now, 1).where('approvals.expires_at', '<', end);
  return (await due.execute()).length > 0;
}

/** Pending approvals whose half time has passed since they were announced, without a reminder. */
export async function remindable(db: Db, now: number, limit: number): Promise<string[]> {
  // No sum: that of two times of a row that somebody wrote may be more than the database counts.
  const half = sql<number>`approvals.created_at / 2 + approvals.expires_at / 2`;
  const rows = await pendingWithout('reminder', db, now, limit)
    .where(half, '<=', now)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('pages')
          .select(sql.lit(1).as('one'))
          .where('pages.topic', '=', sql<string>`'approval:' || approvals.id`)
          .where('pages.created_at', '<', half),
      ),
    )
    .execute();
  return idsOf(rows);
}

/** Decided approvals that were announced individually and whose outcome was not announced yet. */
export async function followable(db: Db, limit: number): Promise<string[]> {
  const announced = db
    .selectFrom('pages')
    .select('approval_id')
    .where(sql<boolean>`pages.kind = 'approval' and pages.followed = 0`);
  const rows = await db
    .selectFrom('approvals')
    .select('approvals.id')
    .where('approvals.state', '!=', 'pending')
    .where('approvals.id', 'in', announced)
    .orderBy('approvals.id')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

/** By the columns that `followable` looks at: a row that somebody wrote may have any topic. */
export async function markFollowed(tx: Tx, approvalId: string): Promise<void> {
  await tx.db
    .updateTable('pages')
    .set({ followed: 1 })
    .where(sql<boolean>`kind = 'approval' and followed = 0`)
    .where('approval_id', '=', approvalId)
    .execute();
}

/** Notes that a request gets no notification of this kind, and why, so that it is not found again. */
export async function leaveOut(
  tx: Tx,
  kind: 'approval' | 'reminder',
  approvalId: string,
  reason: string,
): Promise<void> {
  const row: NotificationRow = {
    id: newId('page', tx.now),
    topic: `${kind}:${approvalId}`,
    kind,
    state: 'done',
    reason,
    followed: 1,
    job_id: null,
    approval_id: approvalId,
    // Nothing is sent of it: no reader misses the rest.
    detail: toJson({ kind, approvalId } as NotificationFacts),
    created_at: tx.now,
    burst: null,
  };
  await insertRow(tx.db, 'pages', row, 'skip');
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

/**
 * How many notifications of this kind were made within `windowMs` of `now`, without suppressed and folded ones. Times
 * after that, of a clock that was set back since, do not count: they would count until the clock reaches them.
 */
export function countNotifications(
  db: Db,
  kind: NotificationRow['kind'],
  now: number,
  windowMs: number,
): Promise<number> {
  return countOf(
    db
      .selectFrom('pages')
      .where('kind', '=', kind)
      .where('created_at', '>', now - windowMs)
      .where('created_at', '<', now + windowMs)
      .where('reason', 'is', null),
  );
}

export function countPending(db: Db): Promise<number> {
  return countOf(db.selectFrom('approvals').where(PENDING));
}

/** Written as in the partial indexes of these tables. */
const open = prepared<object, object>((db) => {
  const any = sql<object>`select 1 as one where exists (select 1 from approvals where state = 'pending')
    or exists (select 1 from pages where state = 'new' and burst is null)
    or exists (select 1 from pages where state = 'new' and burst is not null)
    or exists (select 1 from pages where kind = 'approval' and followed = 0)
    or exists (select 1 from deliveries where state = 'waiting')`;
  return { compile: () => any.compile(db) };
});

/** Whether time alone may bring something to do: a request that is open, or a notification that is not sent. */
export async function hasOpenNotifications(db: Db): Promise<boolean> {
  return (await open(db, {})).rows.length > 0;
}

/**
 * Requested notifications that have no targets yet and are not part of a burst: written as in the partial index
 * `pages_new`.
 */
export function newNotifications(db: Db, limit: number): Promise<NotificationRow[]> {
  return db
    .selectFrom('pages')
    .selectAll()
    .where(sql<boolean>`state = 'new' and burst is null`)
    .orderBy('id')
    .limit(limit)
    .execute();
}

interface MadeFilter {
  readonly kinds: readonly NotificationRow['kind'][];
  readonly sinceMs: number;
  /** Only those that were made before the one of this id. */
  readonly before: string | undefined;
}

/** Notifications that were made since then, newest first. */
export function listNotifications(
  db: Db,
  { kinds, sinceMs, before }: MadeFilter,
  limit: number,
): Promise<Pick<NotificationRow, 'id' | 'detail' | 'created_at'>[]> {
  const query = db
    .selectFrom('pages')
    .select(['id', 'detail', 'created_at'])
    .where('kind', 'in', kinds)
    .where('id', '>=', idFloor('page', sinceMs));
  return (before === undefined ? query : query.where('id', '<', before)).orderBy('id', 'desc').limit(limit).execute();
}

/** A target of a notification, and the daemon that sends to it. */
export interface Assignment {
  readonly target: string;
  readonly daemonId: string;
}

/** Gives a notification its targets, once. Without a target it is done. */
export async function assignTargets(tx: Tx, notificationId: string, targets: readonly Assignment[]): Promise<void> {
  const state = targets.length === 0 ? ('done' as const) : ('sending' as const);
  const update = tx.db.updateTable('pages').set({ state }).where('id', '=', notificationId).where('state', '=', 'new');
  if (!(await hasChanged(update)) || targets.length === 0) return;
  const rows = targets.map(({ target, daemonId }): DeliveryRow => ({
    page_id: notificationId,
    target,
    state: 'waiting',
    daemon_id: daemonId,
    attempts: 0,
    next_at: tx.now,
    failure: null,
    settled_at: null,
  }));
  // One that is there already was written by somebody else, and stays theirs.
  await tx.db
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
