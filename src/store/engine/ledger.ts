import { hash } from 'node:crypto';
import type { Keyring } from '../../lib/seal.ts';
import { mustHold } from '../../lib/invariants/invariants.ts';
import { toJson } from '../../lib/json.ts';
import type { Later } from './dialect.ts';
import { prepared, preparedBy } from './prepared.ts';
import type { ChainRow, Db, LedgerRow } from '../schema/schema.ts';

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
/** The operation of the first row with a key in a chain of an earlier build. */
export const SEAM = 'ledger.seam';

/** Rows that one statement inserts. A group is split into these sizes, so that a few prepared statements serve all. */
const INSERT_SIZES = [64, 16, 4, 1];

type Head = Pick<ChainRow, 'length' | 'head' | 'key_id'>;

const chainHead = prepared<{ id: string }, Head>((db, value, dialect) =>
  dialect.holdRows(db.selectFrom('chains').select(['length', 'head', 'key_id']).where('id', '=', value('id'))),
);

const beginChain = prepared<{ id: string; head: string }, unknown>((db, value) =>
  db
    .insertInto('chains')
    .values({ id: value('id'), length: 0, head: value('head') })
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

const moveHead = prepared<Head & { id: string }, unknown>((db, value) =>
  db
    .updateTable('chains')
    .set({ length: value('length'), head: value('head'), key_id: value('key_id') })
    .where('id', '=', value('id')),
);

const COLUMNS = [
  'chain',
  'seq',
  'at',
  'principal',
  'owner',
  'via',
  'operation',
  'target',
  'detail',
  'prev',
  'hash',
  'key_id',
] as const;

const INSERTS = INSERT_SIZES.map((size) => ({
  size,
  insert: preparedBy<readonly LedgerRow[], unknown>((db, hole) => {
    const row = (n: number): LedgerRow =>
      Object.fromEntries(COLUMNS.map((column) => [column, hole((rows) => rows[n]?.[column])])) as unknown as LedgerRow;
    return db.insertInto('ledger').values(Array.from({ length: size }, (_, n) => row(n)));
  }),
}));

interface Append {
  readonly chain: string;
  readonly at: number;
  readonly ring: Keyring;
  /** Whether the rows have a key in any case. */
  readonly isKeyed: boolean;
  readonly later: Later;
}

/**
 * Appends to a chain, inside a write transaction. Each row's hash covers its content and the hash before it, and is an
 * HMAC by the ledger key. A chain of an earlier build continues without a key until `serve` makes its seam. Returns
 * whether the rows have a key.
 */
export async function appendLedger(
  db: Db,
  { chain, at, ring, isKeyed, later }: Append,
  entries: readonly LedgerEntry[],
): Promise<boolean> {
  const found = await headOf(db, chain);
  const { length, head: last } = found;
  mustHold('ledger.head', { chain, length, isGenesis: last === GENESIS });
  const keyId = isKeyed || found.length === 0 || found.key_id !== null ? ring.activeId : null;
  let [seq, head] = [length, last];
  const rows: LedgerRow[] = entries.map((entry) => {
    seq += 1;
    const { principal, owner, via, operation, target } = entry;
    mustHold('ledger.entry', { operation, principal, owner, via });
    const row = {
      chain,
      seq,
      at,
      principal,
      owner,
      via,
      operation,
      target,
      detail: toJson(entry.detail),
      prev: head,
      key_id: keyId,
    };
    head = keyId === null ? hash('sha256', rowText(row)) : ring.mac('ledger', rowText(row));
    return { ...row, hash: head };
  });
  let done = 0;
  for (const { size, insert } of INSERTS) {
    for (; rows.length - done >= size; done += size) {
      later(insert(db, rows.slice(done, done + size)));
    }
  }
  later(moveHead(db, { id: chain, length: seq, head, key_id: keyId }));
  return keyId !== null;
}

async function headOf(db: Db, chain: string): Promise<Head> {
  const [known] = (await chainHead(db, { id: chain })).rows;
  if (known !== undefined) return known;
  await beginChain(db, { id: chain, head: GENESIS });
  const [begun] = (await chainHead(db, { id: chain })).rows;
  if (begun === undefined) throw new Error(`the ledger has no chain ${chain}`);
  return begun;
}

/** What the hash of a row covers. Rows of earlier builds have no key id in it. */
export function rowText(row: Omit<LedgerRow, 'hash'>): string {
  const { chain, seq, at, principal, owner, via, operation, target, detail, prev, key_id: keyId } = row;
  const fields = [chain, seq, at, principal, owner, via, operation, target, detail, prev];
  return JSON.stringify(keyId === null ? fields : [...fields, keyId]);
}
