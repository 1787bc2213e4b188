import type { Dialect } from '../engine/dialect.ts';
import type { Tx } from '../engine/tx.ts';
import type { Store } from '../store.ts';

/** How often this process has changed a token that existed, by the store. */
const CHANGES = new WeakMap<Dialect, number>();

/** To be called by each write that changes a token: what was known of tokens counts until the write is answered. */
export function countTokenChange(tx: Tx): void {
  const { dialect } = tx;
  tx.afterCommit(() => CHANGES.set(dialect, (CHANGES.get(dialect) ?? 0) + 1));
}

/** Another text after each change of a token, whichever process made it; null where there is no cheap way to tell. */
export function tokenVersion(store: Store): string | null {
  const version = store.foreignVersion();
  return version === null ? null : `${version} ${CHANGES.get(store.dialect) ?? 0}`;
}
