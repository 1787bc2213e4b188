import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import { insertRow } from '../engine/rows.ts';
import type { Db, IdempotencyRow } from '../schema/schema.ts';

const byKey = prepared<{ holder: string; key: string }, IdempotencyRow>((db, value) =>
  db.selectFrom('idempotency').selectAll().where('holder', '=', value('holder')).where('key', '=', value('key')),
);

/** What was first answered to this holder's key. */
export async function findAnswer(db: Db, holder: string, key: string): Promise<IdempotencyRow | undefined> {
  return (await byKey(db, { holder, key })).rows[0];
}

/**
 * Keeps an answer, in the transaction that did the work. Two requests that race: the second's write fails as unique.
 */
export async function keepAnswer(tx: Tx, row: IdempotencyRow): Promise<void> {
  tx.later(insertRow(tx.db, 'idempotency', row));
}
