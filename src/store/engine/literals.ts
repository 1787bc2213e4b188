import { sql } from 'kysely';

/**
 * Values that stand written out in a statement. A partial index serves only a query whose condition is written out:
 * SQLite compiles a statement anew each time that a value is bound which could decide about such an index, and a
 * generic plan of PostgreSQL knows no values at all.
 */
export const QUEUED = sql.lit('queued' as const);
export const PENDING = sql.lit('pending' as const);
export const RUNNING = sql.lit('running' as const);
export const NOT_BLOCKED = sql.lit(0 as const);
export const PRIVILEGED = sql.lit(1 as const);
