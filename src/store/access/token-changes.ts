import type { Dialect } from '../engine/dialect.ts';
import type { Tx } from '../engine/tx.ts';
import type { Store } from '../store.ts';

/** How often this process has changed a token that existed, by the store. */
const CHANGES = new WeakMap<Dialect, number>();

/** To be called by each write that changes a token: what was known of tokens counts until the write is answered. */
export function countTokenChange({ dialect, afterCommit }: Tx): void {
  afterCommit(() => CHANGES.set(dialect, (CHANGES.get(dialect) ?? 0) + 1));
}

/** Another text after each change of a token, whichever process made it; null where there is no cheap way to tell. */
export function tokenVersion({ dialect, foreignVersion }: Store): string | null {
  const version = foreignVersion();
  return version === null ? null : `${version} ${CHANGES.get(dialect) ?? 0}`;
}
