import type { Tx } from './gate.ts';
import { prepared } from './prepared.ts';
import type { Db, IdempotencyRow } from './schema.ts';

const byKey = prepared<{ holder: string; key: string }, IdempotencyRow>((db, value) =>
  db.selectFrom('idempotency').selectAll().where('holder', '=', value('holder')).where('key', '=', value('key')),
);

/** What was first answered to this holder's key. */
export async function findAnswer(db: Db, holder: string, key: string): Promise<IdempotencyRow | undefined> {
  return (await byKey(db, { holder, key })).rows[0];
}

/** Keeps an answer, in the transaction that did the work. Two requests that race: the second meets a unique fault. */
export async function keepAnswer(tx: Tx, row: IdempotencyRow): Promise<void> {
  await tx.db.insertInto('idempotency').values(row).execute();
}
