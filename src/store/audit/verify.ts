import { hash } from 'node:crypto';
import type { Keyring } from '../../lib/seal.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { GENESIS, rowText, SEAM } from '../engine/ledger.ts';
import type { ChainRow, Db, LedgerKeyingRow, LedgerRow } from '../schema/schema.ts';

/** Rows that a verification reads at a time, with a turn of the event loop in between. */
const VERIFY_BATCH = 2_000;

interface LedgerVerdict {
  readonly chains: number;
  readonly rows: number;
  /** What is wrong, naming the row; empty for sound chains. At most one per chain. */
  readonly faults: readonly string[];
  /** Chains of earlier builds that have no seam yet, so that their rows have no key. */
  readonly unkeyed: number;
}

/** The head of a chain that was kept outside the store: the chain must still contain this row. */
export interface KeptHead {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/**
 * Recomputes every chain from its first row: an altered, removed or reordered row is named. Without `ring` keyed rows
 * cannot be verified, which is a fault.
 */
export async function verifyLedger(
  db: Db,
  ring: Keyring | null,
  kept: readonly KeptHead[] = [],
): Promise<LedgerVerdict> {
  const chains = await db.selectFrom('chains').selectAll().orderBy('id').execute();
  const keying = await db.selectFrom('ledger_keying').selectAll().executeTakeFirst();
  const faults: string[] = [];
  let [rows, unkeyed] = [0, 0];
  for (const chain of chains) {
    const verdict = await verifyChain(db, chain, ring);
    rows += verdict.rows;
    const fault = verdict.fault ?? seamFault(chain, verdict, keying);
    if (fault !== null) faults.push(fault);
    else if (verdict.rows > 0 && !verdict.isKeyed) unkeyed += 1;
  }
  faults.push(...(await compareHeads(db, kept)));
  return { chains: chains.length, rows, faults, unkeyed };
}

/** The heads to keep outside the store, by chain. */
export async function ledgerHeads(db: Db): Promise<KeptHead[]> {
  const rows = await db
    .selectFrom('chains')
    .select(['id', 'length', 'head'])
    .where('length', '>', 0)
    .orderBy('id')
    .execute();
  return rows.map(({ id, length, head }) => ({ chain: id, seq: length, hash: head }));
}

/** What is wrong with heads that were kept. */
export async function compareHeads(db: Db, kept: readonly KeptHead[]): Promise<string[]> {
  const faults: string[] = [];
  for (const head of kept) faults.push(...(await compareHead(db, head)));
  return faults;
}

async function compareHead(db: Db, { chain, seq, hash: kept }: KeptHead): Promise<string[]> {
  const row = await db
    .selectFrom('ledger')
    .select('hash')
    .where('chain', '=', chain)
    .where('seq', '=', seq)
    .executeTakeFirst();
  if (row === undefined) return [`chain ${chain}: row ${seq}, whose hash was kept, is missing`];
  return row.hash === kept ? [] : [`chain ${chain}: row ${seq} is not the one whose hash was kept`];
}

interface ChainVerdict {
  readonly rows: number;
  readonly isKeyed: boolean;
  readonly fault: string | null;
}

/** Once all chains of earlier builds have had their seam, a chain without a key was made past the service. */
function seamFault(
  { id }: ChainRow,
  { rows, isKeyed }: ChainVerdict,
  keying: LedgerKeyingRow | undefined,
): string | null {
  return rows === 0 || isKeyed || (keying?.closed_at ?? null) === null
    ? null
    : `chain ${id}: its rows have no key, and no daemon made its seam`;
}

async function verifyChain(db: Db, chain: ChainRow, ring: Keyring | null): Promise<ChainVerdict> {
  let last: LastRow = { hash: GENESIS, seq: 0, key_id: null };
  const verdict = (fault: string | null): ChainVerdict => ({
    rows: last.seq,
    isKeyed: last.key_id !== null,
    fault: fault === null ? null : `chain ${chain.id}: ${fault}`,
  });
  // Rows that arrive while this runs lie behind the length that was read first.
  while (last.seq < chain.length) {
    const batch = await readBatch(db, chain, last.seq);
    for (const row of batch) {
      const fault = rowFault(row, last, ring);
      if (fault !== null) return verdict(fault);
      last = row;
    }
    if (batch.length === 0) return verdict(`row ${last.seq + 1} is missing`);
    await nextTurn();
  }
  return verdict(last.hash === chain.head ? null : `its head does not match row ${last.seq}`);
}

type LastRow = Pick<LedgerRow, 'hash' | 'seq' | 'key_id'>;

function readBatch(db: Db, { id, length }: ChainRow, after: number): Promise<LedgerRow[]> {
  const rows = db
    .selectFrom('ledger')
    .selectAll()
    .where('chain', '=', id)
    .where('seq', '>', after)
    .where('seq', '<=', length);
  return rows.orderBy('seq').limit(VERIFY_BATCH).execute();
}

function rowFault(row: LedgerRow, last: LastRow, ring: Keyring | null): string | null {
  const afterKeyed = last.key_id !== null;
  if (row.seq !== last.seq + 1) return `row ${last.seq + 1} is missing`;
  if (row.prev !== last.hash) return `row ${row.seq} does not follow the row before it`;
  if (row.key_id === null) {
    if (afterKeyed)
      return (
        `row ${row.seq} has no key and follows one that has: a daemon of an earlier build wrote it, or somebody ` +
        'else'
      );
    return hash('sha256', rowText(row)) === row.hash ? null : `row ${row.seq} was altered`;
  }
  // Otherwise rows that were rewritten without a key would become valid with the next row of the service.
  if (row.seq > 1 && !afterKeyed && row.operation !== SEAM)
    return `row ${row.seq} has a key and follows rows that have none, and is no seam`;
  const expectedHash = ring?.macBy(row.key_id, 'ledger', rowText(row)) ?? null;
  if (expectedHash === null) return `row ${row.seq} cannot be verified: key ${row.key_id} is not in the seal key file`;
  return expectedHash === row.hash ? null : `row ${row.seq} was altered`;
}
