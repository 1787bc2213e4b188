import { sql } from 'kysely';
import type { Dialect } from '../dialect.ts';
import type { Db } from '../../schema/schema.ts';

/** Pages that one write gives back, of 4 KiB: moving them takes a millisecond or two. */
const PAGES_A_WRITE = 64;
/** Free pages that the file keeps for the next writes: 16 MiB. */
const SPARE_PAGES = 4_096;
/** `pragma auto_vacuum`: the file gives pages back when asked. */
const INCREMENTAL = 2;

/** The room that the file takes. Free pages stay in it until it is asked to give them back. */
export const SQLITE_ROOM: Pick<Dialect, 'shrink' | 'sizeOf' | 'fileSize'> = {
  async shrink(db) {
    if ((await pragma(db, 'auto_vacuum')) !== INCREMENTAL) return false;
    if ((await pragma(db, 'freelist_count')) <= SPARE_PAGES) return false;
    // A step of this pragma is one page, and the driver makes one step of a statement without columns.
    const step = sql`pragma incremental_vacuum(1)`.compile(db);
    for (let page = 0; page < PAGES_A_WRITE; page += 1) await db.executeQuery(step);
    return (await pragma(db, 'freelist_count')) > SPARE_PAGES;
  },
  async sizeOf(db, table) {
    // Rows get rising numbers and the oldest go first, so that both ends of an index tell how many there are.
    const { rows } = await sql<{ rows: number }>`select coalesce(max(rowid) - min(rowid) + 1, 0) as rows
      from ${sql.table(table)}`.execute(db);
    return { rows: rows[0]?.rows ?? 0, bytes: null };
  },
  async fileSize(db) {
    const page = await pragma(db, 'page_size');
    return {
      bytes: page * (await pragma(db, 'page_count')),
      freeBytes: page * (await pragma(db, 'freelist_count')),
      cannotShrink: (await pragma(db, 'auto_vacuum')) !== INCREMENTAL,
    };
  },
};

type Pragma = 'auto_vacuum' | 'freelist_count' | 'page_count' | 'page_size';

async function pragma(db: Db, name: Pragma): Promise<number> {
  const { rows } = await sql<Readonly<Record<Pragma, number>>>`pragma ${sql.raw(name)}`.execute(db);
  return rows[0]?.[name] ?? 0;
}
