import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    chains: ChainRow;
    ledger: LedgerRow;
    ledger_keying: LedgerKeyingRow;
  }
}

export interface ChainRow {
  id: string;
  length: number;
  head: string;
  /** The key of the last row; null while the chain has no keyed row. */
  key_id: string | null;
}

export interface LedgerRow {
  chain: string;
  seq: number;
  at: number;
  principal: string;
  owner: string;
  via: string;
  operation: string;
  target: string | null;
  /** JSON: identifiers, states and counts; never a value that an operator supplied. */
  detail: Json<Readonly<Record<string, unknown>>>;
  prev: string;
  hash: string;
  /** The key of the hash; null for rows of earlier builds, whose hash has no key. */
  key_id: string | null;
}

/** When the ledger got its key. There is at most one row. */
export interface LedgerKeyingRow {
  id: 1;
  keyed_at: number;
  /** When every chain of earlier builds had its seam; null before. */
  closed_at: number | null;
  /** When all orders of earlier builds had their tags; null before. */
  orders_adopted_at: number | null;
}
