import { sql } from 'kysely';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import type { Db, LedgerRow } from '../schema/schema.ts';

/** Rows that are read at a time. They are filtered here, so that no reading takes longer however few rows fit. */
const BATCH_ROWS = 500;

export interface LedgerFilter {
  readonly operation?: string | undefined;
  readonly principal?: string | undefined;
  readonly target?: string | undefined;
  /** Milliseconds since the epoch: rows before this are left out. */
  readonly since?: number | undefined;
}

/** The rows of all chains that fit, newest first, in batches that hold `limit` rows in all at most. */
export async function* listLedger(db: Db, filter: LedgerFilter, limit: number): AsyncGenerator<LedgerRow[]> {
  let left = limit;
  for (let last: LedgerRow | undefined; left > 0;) {
    const rows = await readBefore(db, last, filter.since ?? 0);
    const fitting = rows.filter((row) => fits(row, filter)).slice(0, left);
    if (fitting.length > 0) yield fitting;
    left -= fitting.length;
    last = rows.at(-1);
    if (rows.length < BATCH_ROWS) return;
    // On SQLite reading takes the thread: others have their turn in between.
    await nextTurn();
  }
}

function readBefore(db: Db, last: LedgerRow | undefined, since: number): Promise<LedgerRow[]> {
  let query = db.selectFrom('ledger').selectAll().where('at', '>=', since);
  if (last !== undefined)
    query = query.where(sql<boolean>`(at, chain, seq) < (${last.at}, ${last.chain}, ${last.seq})`);
  return query.orderBy('at', 'desc').orderBy('chain', 'desc').orderBy('seq', 'desc').limit(BATCH_ROWS).execute();
}

function fits(row: LedgerRow, { operation, principal, target }: LedgerFilter): boolean {
  return (
    (operation === undefined || row.operation === operation) &&
    (principal === undefined || row.principal === principal) &&
    (target === undefined || row.target === target)
  );
}
