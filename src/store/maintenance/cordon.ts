import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

const serviceCordon = prepared<object, { cordoned_at: number | null }>((db) =>
  db.selectFrom('cordon').select('cordoned_at').where('id', '=', 1),
);

const nodeCordon = prepared<{ node: string }, { cordoned_at: number }>((db, value) =>
  db.selectFrom('node_cordons').select('cordoned_at').where('node', '=', value('node')),
);

/** Whether the whole service is cordoned. */
export async function isCordoned(db: Db): Promise<boolean> {
  const [row] = (await serviceCordon(db, {})).rows;
  if (row === undefined) throw new Error('the row of the cordon is missing');
  return row.cordoned_at !== null;
}

/** Whether a daemon is cordoned: with the whole service, or alone. */
export async function isNodeCordoned(db: Db, node: string): Promise<boolean> {
  return (await isCordoned(db)) || (await nodeCordon(db, { node })).rows.length > 0;
}

const KEY = 'cordon';

/**
 * Whether the daemon of this name may claim. A cordon waits until this transaction ends, so that no claim commits after
 * the cordon was acknowledged. False also while a cordon is being set.
 */
export async function mayClaimNow(tx: Tx, node: string): Promise<boolean> {
  return (await tx.dialect.shareKey(tx.db, KEY)) && !(await isNodeCordoned(tx.db, node));
}

/** Sets or lifts the cordon of the whole service; repeating it changes nothing. */
export async function setCordon(tx: Tx, by: string | null): Promise<void> {
  await tx.dialect.lockKey(tx.db, KEY);
  await tx.db
    .updateTable('cordon')
    .set({ cordoned_at: by === null ? null : tx.now, cordoned_by: by })
    .where('id', '=', 1)
    .where('cordoned_at', by === null ? 'is not' : 'is', null)
    .execute();
}

/** The same of one daemon, by its name, whether it lives or not. */
export async function setNodeCordon(tx: Tx, node: string, by: string | null): Promise<void> {
  await tx.dialect.lockKey(tx.db, KEY);
  if (by === null) await tx.db.deleteFrom('node_cordons').where('node', '=', node).execute();
  else
    await tx.db
      .insertInto('node_cordons')
      .values({ node, cordoned_at: tx.now, cordoned_by: by })
      .onConflict((conflict) => conflict.column('node').doNothing())
      .execute();
}
