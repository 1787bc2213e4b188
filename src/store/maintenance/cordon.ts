import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import type { Db } from '../schema/schema.ts';

const cordonedAt = prepared<object, { cordoned_at: number | null }>((db) =>
  db.selectFrom('cordon').select('cordoned_at').where('id', '=', 1),
);

export async function isCordoned(db: Db): Promise<boolean> {
  const [row] = (await cordonedAt(db, {})).rows;
  if (row === undefined) throw new Error('the row of the cordon is missing');
  return row.cordoned_at !== null;
}

const KEY = 'cordon';

/**
 * Whether claims may be made. A cordon waits until this transaction ends, so that no claim commits after the cordon was
 * acknowledged. False also while a cordon is being set.
 */
export async function mayClaimNow(tx: Tx): Promise<boolean> {
  return (await tx.dialect.shareKey(tx.db, KEY)) && !(await isCordoned(tx.db));
}

/** Sets or lifts the cordon; repeating it changes nothing. */
export async function setCordon(tx: Tx, by: string | null): Promise<void> {
  await tx.dialect.lockKey(tx.db, KEY);
  await tx.db
    .updateTable('cordon')
    .set({ cordoned_at: by === null ? null : tx.now, cordoned_by: by })
    .where('id', '=', 1)
    .where('cordoned_at', by === null ? 'is not' : 'is', null)
    .execute();
}
