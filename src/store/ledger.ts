import { hash } from 'node:crypto';
import { nextTurn } from '../lib/turns.ts';
import type { Later } from './dialect.ts';
import { prepared, preparedBy } from './prepared.ts';
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

/** Rows that one statement inserts. A group is split into these sizes, so that a few prepared statements serve all. */
const INSERT_SIZES = [64, 16, 4, 1];
/** Rows that a verification reads at a time, with a turn of the event loop in between. */
const VERIFY_PAGE = 2_000;

const chainHead = prepared<{ id: string }, { length: number; head: string }>((db, value, dialect) =>
  dialect.holdRows(db.selectFrom('chains').select(['length', 'head']).where('id', '=', value('id'))),
);

const beginChain = prepared<{ id: string; head: string }, unknown>((db, value) =>
  db
    .insertInto('chains')
    .values({ id: value('id'), length: 0, head: value('head') })
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

const moveHead = prepared<{ id: string; length: number; head: string }, unknown>((db, value) =>
  db
    .updateTable('chains')
    .set({ length: value('length'), head: value('head') })
    .where('id', '=', value('id')),
);

const COLUMNS = ['chain', 'seq', 'at', 'principal', 'owner', 'via', 'operation', 'target', 'detail', 'prev', 'hash'] as const;

const INSERTS = INSERT_SIZES.map((size) => ({
  size,
  insert: preparedBy<readonly LedgerRow[], unknown>((db, hole) => {
    const row = (n: number): LedgerRow =>
      Object.fromEntries(COLUMNS.map((column) => [column, hole((rows) => rows[n]?.[column])])) as unknown as LedgerRow;
    return db.insertInto('ledger').values(Array.from({ length: size }, (_, n) => row(n)));
  }),
}));

/** Appends to a chain, inside a write transaction. Each row's hash covers its content and the hash before it. */
export async function appendLedger(db: Db, chain: string, at: number, entries: readonly LedgerEntry[], later: Later): Promise<void> {
  let { length: seq, head } = await headOf(db, chain);
  const rows: LedgerRow[] = entries.map((entry) => {
    seq += 1;
    const { principal, owner, via, operation, target } = entry;
    const row = { chain, seq, at, principal, owner, via, operation, target, detail: JSON.stringify(entry.detail), prev: head };
    head = rowHash(row);
    return { ...row, hash: head };
  });
  let done = 0;
  for (const { size, insert } of INSERTS) {
    for (; rows.length - done >= size; done += size) {
      later(insert(db, rows.slice(done, done + size)));
    }
  }
  later(moveHead(db, { id: chain, length: seq, head }));
}

async function headOf(db: Db, chain: string): Promise<{ length: number; head: string }> {
  const [known] = (await chainHead(db, { id: chain })).rows;
  if (known !== undefined) return known;
  await beginChain(db, { id: chain, head: GENESIS });
  const [begun] = (await chainHead(db, { id: chain })).rows;
  if (begun === undefined) throw new Error(`the ledger has no chain ${chain}`);
  return begun;
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
    await nextTurn();
  }
  return head === chain.head
    ? { rows: seq, fault: null }
    : { rows: seq, fault: `chain ${chain.id}: its head does not match row ${seq}` };
}
