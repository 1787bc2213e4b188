import { sql } from 'kysely';

/**
 * Values that are literals in a statement. A partial index serves only a query whose condition is a literal: SQLite
 * compiles a statement again each time a bound value could decide about such an index, and a generic plan of PostgreSQL
 * does not know the values.
 */
export const QUEUED = sql.lit('queued' as const);
export const PENDING = sql.lit('pending' as const);
export const RUNNING = sql.lit('running' as const);
export const NOT_BLOCKED = sql.lit(0 as const);
export const PRIVILEGED = sql.lit(1 as const);
export const WRITABLE = sql.lit(1 as const);
