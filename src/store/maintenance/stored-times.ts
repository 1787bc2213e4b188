import { type RawBuilder, sql } from 'kysely';
import { LEASE_MAX_MS, RETRY_WAIT_MAX_MS } from '../../domain/time-limits.ts';
import { CLOCKS_APART_MS } from '../../lib/clock.ts';
import { countedUp } from '../engine/counts.ts';
import { PENDING } from '../engine/literals.ts';
import { retagged } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { Table } from '../schema/schema.ts';

/**
 * The stored times that decide something, and how each is corrected after the clock was set back. A clock that was
 * ahead leaves beginnings in the future, and ends that are further away than the time that they were given. Each time
 * is recognised by itself: any daemon corrects it, also one that starts later, and a second one changes nothing.
 * After it, what has an end lasts at most as long again as it was given.
 */
export interface StoredTime {
  readonly name: string;
  /** The clock that it is written and compared by: on SQLite they are the same. */
  readonly by: 'store' | 'machine';
  /** Returns how many rows it has corrected; `now` by that clock. */
  readonly correct: (tx: Tx, now: number) => Promise<number>;
}

/** A beginning in the future is now, and the ends that were counted from it move with it. */
function begins(
  table: Table,
  { open, from, ends = [] }: { open: RawBuilder<boolean>; from: string; ends?: readonly string[] },
): StoredTime['correct'] {
  return async ({ db }, now) => {
    // An end before its beginning was written by somebody else: to move it might be more than the database counts.
    const isSound = ends.map((end) => sql`and (${sql.ref(end)} is null or ${sql.ref(end)} >= ${sql.ref(from)})`);
    const moved = ends.map((end) => sql`, ${sql.ref(end)} = ${sql.ref(end)} - (${sql.ref(from)} - ${now})`);
    const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.ref(from)} = ${now}${join(moved)}
      where ${open} and ${sql.ref(from)} > ${now + CLOCKS_APART_MS} ${join(isSound)}`.execute(db);
    return Number(numAffectedRows ?? 0);
  };
}

/** An end that is further ahead than any is ever set comes after `waitMs`. */
function comesWithin(
  table: Table,
  { open, end, maxMs, waitMs }: { open: RawBuilder<boolean>; end: string; maxMs: number; waitMs: number },
): StoredTime['correct'] {
  return async ({ db }, now) => {
    const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.ref(end)} = ${now + waitMs}
      where ${open} and ${sql.ref(end)} > ${now + maxMs}`.execute(db);
    return Number(numAffectedRows ?? 0);
  };
}

function join(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql.join(parts, sql` `);
}

const ALL = sql<boolean>`1 = 1`;
const NOT_ENDED = sql<boolean>`ended_at is null`;
const LEASE = { end: 'lease_until', maxMs: LEASE_MAX_MS, waitMs: LEASE_MAX_MS } as const;

/** Each is a row of `docs/explanation/clocks.md`. */
export const STORED_TIMES: readonly StoredTime[] = [
  { name: 'approvals', by: 'store', correct: correctApprovals },
  {
    name: 'announcements of approvals',
    by: 'store',
    correct: begins('pages', { open: sql`kind = 'approval' and followed = 0`, from: 'created_at' }),
  },
  {
    name: 'deliveries',
    by: 'machine',
    correct: comesWithin('deliveries', {
      open: sql`state = 'waiting'`,
      end: 'next_at',
      maxMs: RETRY_WAIT_MAX_MS,
      waitMs: 0,
    }),
  },
  {
    name: 'mutes',
    by: 'store',
    correct: begins('mutes', { open: NOT_ENDED, from: 'created_at', ends: ['expires_at'] }),
  },
  // One that was cut with its rule ends where it began: so it is over at once.
  {
    name: 'silences',
    by: 'store',
    correct: begins('silences', { open: NOT_ENDED, from: 'created_at', ends: ['expires_at'] }),
  },
  { name: 'snoozes', by: 'store', correct: correctSnoozes },
  { name: 'last messages of webhooks', by: 'store', correct: begins('webhooks', { open: ALL, from: 'last_heard_at' }) },
  { name: 'beginnings of watches', by: 'store', correct: begins('deadmen', { open: ALL, from: 'created_at' }) },
  { name: 'reported silences of watches', by: 'store', correct: begins('deadmen', { open: ALL, from: 'tripped_at' }) },
  { name: 'sessions', by: 'machine', correct: correctSessions },
  { name: 'tokens', by: 'machine', correct: correctTokens },
  {
    name: 'leases of daemons',
    by: 'store',
    correct: comesWithin('daemons', { open: sql`stopped_at is null`, ...LEASE }),
  },
  { name: 'leases of probes', by: 'store', correct: comesWithin('check_shards', { open: ALL, ...LEASE }) },
  { name: 'leases of probing daemons', by: 'store', correct: comesWithin('check_sweepers', { open: ALL, ...LEASE }) },
  {
    name: 'reports of probing daemons',
    by: 'store',
    correct: begins('check_sweepers', { open: ALL, from: 'reported_at' }),
  },
  {
    name: 'restarts that wait for jobs',
    by: 'store',
    correct: begins('restarts', { open: sql`state = 'draining'`, from: 'requested_at', ends: ['drain_deadline'] }),
  },
  {
    name: 'restarts whose program starts',
    by: 'store',
    correct: begins('restarts', { open: sql`state = 'executing'`, from: 'finished_at' }),
  },
];

/** Corrects one stored time; one daemon at a time does. Returns how many rows it has corrected. */
export async function correctTime(tx: Tx, time: StoredTime, now: number): Promise<number> {
  await tx.dialect.lockKey(tx.db, 'stored-times');
  const rows = await time.correct(tx, now);
  if (rows > 0) tx.announce();
  return rows;
}

interface Span {
  readonly created_at: number;
  readonly expires_at: number;
}

function movedTo(now: number, { created_at: from, expires_at: end }: Span): Span {
  return { created_at: now, expires_at: now + (end - from) };
}

async function correctApprovals({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', PENDING)
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .orderBy('id')
    .execute();
  for (const row of rows) {
    const moved = movedTo(now, row);
    const open = db.updateTable('approvals').where('id', '=', row.id).where('state', '=', PENDING);
    await open.set(retagged(ring, 'approvals', row, moved)).execute();
    const job = db.updateTable('jobs').where('id', '=', row.job_id).where('expires_at', '=', row.expires_at);
    await job.set({ expires_at: moved.expires_at }).execute();
  }
  return rows.length;
}

/** The beginning of a snooze is not stored: it is at most as old as the last change of its check. */
async function correctSnoozes({ db }: Tx, now: number): Promise<number> {
  const changedAhead = db
    .selectFrom('checks')
    .select('name')
    .where('updated_at', '>', now + CLOCKS_APART_MS);
  const { numUpdatedRows: rows } = await db
    .updateTable('check_targets')
    .set({
      snoozed_until: sql<number>`snoozed_until - (select updated_at - ${now} from checks where name = check_name)`,
    })
    .where('snoozed_until', '>', now)
    .where('check_name', 'in', changedAhead)
    .executeTakeFirst();
  // Daemons read the targets of a check again when its revision is another one.
  await db
    .updateTable('checks')
    .set({ updated_at: now, revision: countedUp('revision') })
    .where('name', 'in', changedAhead)
    .execute();
  return Number(rows);
}

async function correctSessions({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .execute();
  for (const row of rows)
    await db
      .updateTable('sessions')
      .set(retagged(ring, 'sessions', row, movedTo(now, row)))
      .where('id', '=', row.id)
      .execute();
  return rows.length;
}

/** Tokens without an end are valid whatever the clock says. */
async function correctTokens({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('tokens')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .execute();
  let count = 0;
  for (const { expires_at: end, ...row } of rows) {
    if (end === null) continue;
    const whole = { ...row, expires_at: end };
    await db
      .updateTable('tokens')
      .set({ ...retagged(ring, 'tokens', whole, movedTo(now, whole)), version: countedUp('version') })
      .where('id', '=', row.id)
      .where('revoked_at', 'is', null)
      .execute();
    count += 1;
  }
  return count;
}
