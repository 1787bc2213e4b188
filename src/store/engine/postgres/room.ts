import { sql } from 'kysely';
import type { Dialect } from '../dialect.ts';

/** The server uses the room of deleted rows again; its autovacuum needs no help. */
export const POSTGRES_ROOM: Pick<Dialect, 'shrink' | 'sizeOf' | 'fileSize'> = {
  shrink: () => Promise.resolve(false),
  async sizeOf(db, table) {
    // The estimate of the last vacuum; -1 before the first one.
    const { rows } = await sql<{ rows: number; bytes: number }>`select greatest(reltuples, 0)::bigint as rows,
      pg_total_relation_size(oid) as bytes from pg_class where oid = ${table}::regclass`.execute(db);
    return { rows: rows[0]?.rows ?? 0, bytes: rows[0]?.bytes ?? 0 };
  },
  async fileSize(db) {
    const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db);
    return { bytes: rows[0]?.bytes ?? 0, freeBytes: 0, cannotShrink: false };
  },
};
