import { sql } from 'kysely';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import type { Db, LedgerRow } from '../schema/schema.ts';

/** The rows of one read. They are filtered here, so that a read does not take longer when few rows match. */
const BATCH_ROWS = 500;

export interface LedgerFilter {
  readonly operation?: string | undefined;
  readonly principal?: string | undefined;
  readonly target?: string | undefined;
  /** Milliseconds since the epoch: rows before this are left out. */
  readonly since?: number | undefined;
}

/** The rows of all chains that match, newest first, in batches of at most `limit` rows in total. */
export async function* listLedger(db: Db, filter: LedgerFilter, limit: number): AsyncGenerator<LedgerRow[]> {
  let left = limit;
  for (let last: LedgerRow | undefined; left > 0;) {
    const rows = await readBefore(db, last, filter.since ?? 0);
    const fitting = rows.filter((row) => fits(row, filter)).slice(0, left);
    if (fitting.length > 0) yield fitting;
    left -= fitting.length;
    last = rows.at(-1);
    if (rows.length < BATCH_ROWS) return;
    // On SQLite a read blocks the event loop: other tasks run in between.
    await requestTurn();
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
