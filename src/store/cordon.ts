import type { Tx } from './gate.ts';
import type { Db } from './schema.ts';

export async function isCordoned(db: Db): Promise<boolean> {
  const row = await db.selectFrom('cordon').select('cordoned_at').where('id', '=', 1).executeTakeFirstOrThrow();
  return row.cordoned_at !== null;
}

/** Sets or lifts the cordon; repeating it changes nothing. */
export async function setCordon(tx: Tx, by: string | null): Promise<void> {
  await tx.db
    .updateTable('cordon')
    .set({ cordoned_at: by === null ? null : tx.now, cordoned_by: by })
    .where('id', '=', 1)
    .where('cordoned_at', by === null ? 'is not' : 'is', null)
    .execute();
}
