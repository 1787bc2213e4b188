import type { Tx } from './gate.ts';
import type { EventRow } from './schema.ts';

/** Appends a row to the ledger of events. */
export async function insertEvent(tx: Tx, row: EventRow): Promise<void> {
  await tx.db.insertInto('events').values(row).execute();
}
