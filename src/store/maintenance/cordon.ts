import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

const serviceCordon = prepared<object, { cordoned_at: number | null }>((db) =>
  db.selectFrom('cordon').select('cordoned_at').where('id', '=', 1),
);

/** A daemon is cordoned alone by an operator, or while it restarts in place. */
const nodeCordon = prepared<{ node: string }, { node: string }>((db, value) =>
  db
    .selectFrom('node_cordons')
    .select('node')
    .where('node', '=', value('node'))
    .unionAll(db.selectFrom('restarts').select('node').where('node', '=', value('node')).where('cordoned', '=', 1)),
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

/** The daemons that are cordoned alone, by name, without those that restart in place. */
export async function listNodeCordons(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('node_cordons').select('node').orderBy('node').limit(NODE_CORDONS_MAX).execute();
  return rows.map(({ node }) => node);
}

/** More say nothing more to a reader. */
const NODE_CORDONS_MAX = 1_000;

const KEY = 'cordon';

/**
 * Whether the daemon of this name may claim. A cordon waits until this transaction ends, so that no claim commits after
 * the cordon was acknowledged. False also while a cordon is being set.
 */
export async function mayClaimNow(tx: Tx, node: string): Promise<boolean> {
  return (await tx.dialect.shareKey(tx.db, KEY)) && !(await isNodeCordoned(tx.db, node));
}

/** Waits for claims that may still commit; none begins until the transaction ends. */
export function holdCordon(tx: Tx): Promise<void> {
  return tx.dialect.lockKey(tx.db, KEY);
}

/** Sets or lifts the cordon of the whole service; repeating it changes nothing. */
export async function setCordon(tx: Tx, by: string | null): Promise<void> {
  await holdCordon(tx);
  await tx.db
    .updateTable('cordon')
    .set({ cordoned_at: by === null ? null : tx.now, cordoned_by: by })
    .where('id', '=', 1)
    .where('cordoned_at', by === null ? 'is not' : 'is', null)
    .execute();
}

/** The same of one daemon, by its name, whether it lives or not. */
export async function setNodeCordon(tx: Tx, node: string, by: string | null): Promise<void> {
  await holdCordon(tx);
  if (by === null) await tx.db.deleteFrom('node_cordons').where('node', '=', node).execute();
  else
    await tx.db
      .insertInto('node_cordons')
      .values({ node, cordoned_at: tx.now, cordoned_by: by })
      .onConflict((conflict) => conflict.column('node').doNothing())
      .execute();
}
