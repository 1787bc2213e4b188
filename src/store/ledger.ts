import { hash } from 'node:crypto';
import type { Dialect } from './dialect.ts';
import type { Db, LedgerRow } from './schema.ts';

/** One thing that somebody did. Identifiers, states and counts only: values of operators never enter. */
export interface LedgerEntry {
  readonly principal: string;
  readonly owner: string;
  readonly via: string;
  readonly operation: string;
  readonly target: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export const GENESIS = '0'.repeat(64);

/** Rows that one statement inserts: 11 columns each, and SQLite takes 32,766 parameters. */
const ROWS_PER_INSERT = 100;
/** Rows that a verification reads at a time, with a turn of the event loop in between. */
const VERIFY_PAGE = 2_000;

/** Appends to a chain, inside a write transaction. Each row's hash covers its content and the hash before it. */
export async function appendLedger(
  db: Db,
  dialect: Dialect,
  chain: string,
  at: number,
  entries: readonly LedgerEntry[],
): Promise<void> {
  await dialect.lockKey(db, `ledger:${chain}`);
  const known = await db.selectFrom('chains').select(['length', 'head']).where('id', '=', chain).executeTakeFirst();
  let head = known?.head ?? GENESIS;
  let seq = known?.length ?? 0;
  const rows: LedgerRow[] = entries.map((entry) => {
    seq += 1;
    const row = { chain, seq, at, ...entry, detail: JSON.stringify(entry.detail), prev: head };
    head = rowHash(row);
    return { ...row, hash: head };
  });
  for (let i = 0; i < rows.length; i += ROWS_PER_INSERT) {
    await db.insertInto('ledger').values(rows.slice(i, i + ROWS_PER_INSERT)).execute();
  }
  await db
    .insertInto('chains')
    .values({ id: chain, length: seq, head })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ length: seq, head }))
    .execute();
}

function rowHash(row: Omit<LedgerRow, 'hash'>): string {
  const { chain, seq, at, principal, owner, via, operation, target, detail, prev } = row;
  return hash('sha256', JSON.stringify([chain, seq, at, principal, owner, via, operation, target, detail, prev]));
}

export interface LedgerVerdict {
  readonly chains: number;
  readonly rows: number;
  /** What is wrong, naming the row; empty for sound chains. At most one per chain. */
  readonly faults: readonly string[];
}

/** Recomputes every chain from its first row: an altered, removed or reordered row is named. */
export async function verifyLedger(db: Db): Promise<LedgerVerdict> {
  const chains = await db.selectFrom('chains').selectAll().orderBy('id').execute();
  const faults: string[] = [];
  let rows = 0;
  for (const chain of chains) {
    const verdict = await verifyChain(db, chain);
    rows += verdict.rows;
    if (verdict.fault !== null) faults.push(verdict.fault);
  }
  return { chains: chains.length, rows, faults };
}

async function verifyChain(
  db: Db,
  chain: { id: string; length: number; head: string },
): Promise<{ rows: number; fault: string | null }> {
  let head = GENESIS;
  let seq = 0;
  // Rows that arrive while this runs lie behind the length that was read first.
  while (seq < chain.length) {
    const page = await db
      .selectFrom('ledger')
      .selectAll()
      .where('chain', '=', chain.id)
      .where('seq', '>', seq)
      .where('seq', '<=', chain.length)
      .orderBy('seq')
      .limit(VERIFY_PAGE)
      .execute();
    for (const row of page) {
      if (row.seq !== seq + 1) return { rows: seq, fault: `chain ${chain.id}: row ${seq + 1} is missing` };
      if (row.prev !== head) return { rows: seq, fault: `chain ${chain.id}: row ${row.seq} does not follow the row before it` };
      if (rowHash(row) !== row.hash) return { rows: seq, fault: `chain ${chain.id}: row ${row.seq} was altered` };
      head = row.hash;
      seq = row.seq;
    }
    if (page.length === 0) return { rows: seq, fault: `chain ${chain.id}: row ${seq + 1} is missing` };
    await new Promise((resolve) => setImmediate(resolve));
  }
  return head === chain.head
    ? { rows: seq, fault: null }
    : { rows: seq, fault: `chain ${chain.id}: its head does not match row ${seq}` };
}
