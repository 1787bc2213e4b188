import type { Keyring } from '../../lib/seal.ts';
import { hasAdopted } from '../engine/tags/adoption.ts';
import { hadTag, keyOf, type OrderTag, TAGGED_TABLES, type TaggedTable } from '../engine/tags/forms.ts';
import { hasEarlierTag, isTagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { Store } from '../store.ts';

/** States of jobs that may run later: as they are, or by a redrive. */
export const MAY_RUN = ['awaiting_approval', 'queued', 'running', 'interrupted'] as const;
/** Of the jobs that have ended: the newest, which people may run again. */
const ENDED_MAX = 10_000;

const SERVICE = { principal: 'gatehouse', owner: 'gatehouse', via: 'daemon' } as const;

/**
 * Tags the rows that earlier builds left without a tag, or with one over fewer columns: once, after the last daemon of
 * such a build has gone. Answers whether that is over; a later call continues.
 *
 * `mayAdopt` is false where this machine knows that it was done before: rows without a tag are then not adopted,
 * whatever the store contains.
 */
export async function adoptOrders(store: Store, mayAdopt: boolean): Promise<boolean> {
  const isOver = (await hasAdopted(store.db)) || (await store.write((tx) => adopt(tx, mayAdopt)));
  if (isOver) store.adoption.end();
  return isOver;
}

async function adopt(tx: Tx, mayAdopt: boolean): Promise<boolean> {
  await tx.dialect.lockKey(tx.db, 'ledger_keying');
  if (await hasAdopted(tx.db)) return true;
  if (mayAdopt && (await hasEarlierDaemon(tx))) return false;
  const tagged: Partial<Record<TaggedTable, number>> = {};
  if (mayAdopt) for (const table of TAGGED_TABLES) tagged[table] = await tagRows(tx, table);
  await tx.db.updateTable('ledger_keying').set({ orders_adopted_at: tx.now }).execute();
  tx.record({ ...SERVICE, operation: 'orders.tag', target: tx.ring.activeId, detail: { tagged, adopted: mayAdopt } });
  return true;
}

/** Whether a daemon of an earlier build may still be running, which writes and takes rows without a tag. */
async function hasEarlierDaemon(tx: Tx): Promise<boolean> {
  if (tx.dialect.liveness === 'lock') return false;
  const now = await tx.dialect.leaseClock(tx.db);
  const live = tx.db.selectFrom('daemons').select('id').where('stopped_at', 'is', null).where('lease_until', '>', now);
  return (await live.where('tags_orders', 'is', null).limit(1).execute()).length > 0;
}

/** Answers how many. */
async function tagRows(tx: Tx, table: TaggedTable): Promise<number> {
  let count = 0;
  for (const row of await rowsOf(tx, table)) {
    const tag = adoptedTag(tx, table, row);
    if (tag === null) continue;
    // One of the tables, all of which have these columns.
    let update = tx.db.updateTable(table as 'sources').set(tag);
    for (const column of keyOf(table) as readonly 'name'[]) update = update.where(column, '=', row[column] ?? '');
    await update.execute();
    count += 1;
  }
  return count;
}

type AnyRow = OrderTag & { readonly id?: string; readonly name?: string };

/** Null for a row that has a tag, and for one that an earlier build would have tagged: somebody else wrote it. */
function adoptedTag({ ring }: Tx, table: TaggedTable, row: AnyRow): OrderTag | null {
  const needsTag = row.order_tag === null ? !hadTag(table, row) : isOfEarlierBuild(ring, table, row);
  return needsTag ? tagOf(ring, table, row as never) : null;
}

/** What a row was before a daemon of an earlier build moved it, which left the tag that this build gave it. */
const BEFORE_MOVES: Partial<Record<TaggedTable, readonly object[]>> = {
  approvals: [{ state: 'pending', decided_at: null, decided_by: null, decided_via: null }],
  workflow_steps: [{ state: 'started' }, { state: 'waiting', job_id: null }],
};

function isOfEarlierBuild(ring: Keyring, table: TaggedTable, row: AnyRow): boolean {
  if (isTagged(ring, table, row)) return false;
  const before = BEFORE_MOVES[table] ?? [];
  return hasEarlierTag(ring, table, row) || before.some((columns) => isTagged(ring, table, { ...row, ...columns }));
}

/** Of history, what may still be used. */
async function rowsOf({ db }: Tx, table: TaggedTable): Promise<readonly AnyRow[]> {
  if (table === 'jobs') {
    const untagged = db.selectFrom('jobs').selectAll().where('order_tag', 'is', null);
    const ended = untagged.where('state', 'not in', MAY_RUN).orderBy('id', 'desc').limit(ENDED_MAX);
    return [...(await untagged.where('state', 'in', MAY_RUN).execute()), ...(await ended.execute())];
  }
  if (table === 'approvals') {
    const plans = db.selectFrom('artifacts').select('artifacts.id');
    const withJob = db.selectFrom('approvals').innerJoin('jobs', 'jobs.id', 'approvals.job_id').selectAll('approvals');
    const mayRun = withJob.where((eb) =>
      // The plan of a settled one is shown as long as it is kept.
      eb.or([eb('jobs.state', 'in', MAY_RUN), eb('approvals.plan_artifact_id', 'in', plans)]),
    );
    return mayRun.execute();
  }
  if (table === 'daemons') return db.selectFrom('daemons').selectAll().where('stopped_at', 'is', null).execute();
  return db
    .selectFrom(table as 'sources')
    .selectAll()
    .execute();
}
