import { type RawBuilder, sql } from 'kysely';
import { LEASE_MAX_MS } from '../domain/time-limits.ts';
import { CLOCKS_APART_MS } from '../lib/clock.ts';
import type { Tx } from './engine/tx.ts';
import type { Table } from './schema/schema.ts';

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
export function begins(
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
export function comesWithin(
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

/** The lease of a daemon in `lease_until`. */
export function leaseEnds(table: Table, open: RawBuilder<boolean>): StoredTime['correct'] {
  return comesWithin(table, { open, end: 'lease_until', maxMs: LEASE_MAX_MS, waitMs: LEASE_MAX_MS });
}

export const EVERY_ROW = sql<boolean>`1 = 1`;

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

/** The same span from `now` on. */
export function movedTo(now: number, { created_at: from, expires_at: end }: Span): Span {
  return { created_at: now, expires_at: now + (end - from) };
}
