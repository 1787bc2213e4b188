import type { Scope } from '../../../domain/access/scope.ts';

declare module '../schema.ts' {
  interface Schema {
    tokens: TokenRow;
    sessions: SessionRow;
    idempotency: IdempotencyRow;
  }
}

export interface TokenRow {
  id: string;
  name: string;
  owner: string;
  scope: Scope;
  salt: Uint8Array;
  hash: Uint8Array;
  /** Increases with every change of the row: a cached verification of an older version is void. */
  version: number;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  /** See `agentText`. */
  agent: string | null;
  order_tag: string | null;
  order_key_id: string | null;
}

export interface SessionRow {
  /** SHA-256 of the cookie's value, hex. */
  id: string;
  token_id: string;
  csrf: string;
  created_at: number;
  expires_at: number;
  order_tag: string | null;
  order_key_id: string | null;
}

export interface IdempotencyRow {
  /** `job:<owner>` for job-creating requests, `write:<token id>:<operation>` for the others. */
  holder: string;
  key: string;
  status: number;
  kind: string;
  /** JSON: the data that was first answered. */
  data: string;
  created_at: number;
}
