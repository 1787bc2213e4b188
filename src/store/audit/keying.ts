import type { Tx } from '../engine/tx.ts';
import { appendLedger, type LedgerEntry, SEAM } from '../engine/ledger.ts';
import { MAY_RUN } from '../maintenance/adopt-orders.ts';
import { tagOf } from '../engine/tags/tags.ts';
import type { Store } from '../store.ts';

/**
 * Begins to key a store of an earlier build, at the first `serve` of this one. In one transaction each chain that
 * exists gets a seam, a keyed row whose hash covers the old head, and the privileged jobs that may still run get their
 * tags.
 *
 * `mayAdopt` is false where this machine knows that the store was keyed before: rows without a key are then not
 * adopted, whatever the store contains. Returns whether all chains have a key now: while a daemon of an earlier build
 * may be running they do not, and a later start continues.
 */
export async function keyLedger(store: Store, mayAdopt: boolean): Promise<boolean> {
  const state = await store.db.selectFrom('ledger_keying').selectAll().executeTakeFirst();
  if (state !== undefined && state.closed_at !== null) return true;
  return store.write(async (tx) => {
    await tx.dialect.lockKey(tx.db, 'ledger_keying');
    const held = await tx.db.selectFrom('ledger_keying').selectAll().executeTakeFirst();
    if (held !== undefined && held.closed_at !== null) return true;
    const closes = !mayAdopt || !(await writesWithoutKey(tx));
    const seams = mayAdopt ? await makeSeams(tx, store.chain, closes) : 0;
    const tagged = mayAdopt && held === undefined ? await tagWaitingJobs(tx) : 0;
    const row = {
      id: 1 as const,
      keyed_at: held?.keyed_at ?? tx.now,
      closed_at: closes ? tx.now : null,
      orders_adopted_at: held?.orders_adopted_at ?? null,
    };
    await tx.db
      .insertInto('ledger_keying')
      .values(row)
      .onConflict((oc) => oc.column('id').doUpdateSet({ closed_at: row.closed_at }))
      .execute();
    tx.record({
      ...SERVICE,
      operation: 'ledger.key',
      target: tx.ring.activeId,
      detail: { seams, tagged_jobs: tagged, adopted: mayAdopt },
    });
    return closes;
  });
}

const SERVICE = { principal: 'gatehouse', owner: 'gatehouse', via: 'daemon' } as const;

/**
 * Whether a daemon of an earlier build may still be running. It appends to its own chain, and nothing shows which chain
 * that is.
 */
async function writesWithoutKey(tx: Tx): Promise<boolean> {
  if (tx.dialect.liveness === 'lock') return false;
  const now = await tx.dialect.leaseClock(tx.db);
  const live = tx.db
    .selectFrom('daemons')
    .select('id')
    .where('stopped_at', 'is', null)
    .where('lease_until', '>', now)
    .where('ledger_key_id', 'is', null);
  return (await live.limit(1).execute()).length > 0;
}

/**
 * Makes the missing seams of all chains; with `all` false, only that of this process's own chain. Returns their number.
 */
async function makeSeams(tx: Tx, own: string, all: boolean): Promise<number> {
  const chains = await tx.dialect
    .holdRows(tx.db.selectFrom('chains').selectAll().where('key_id', 'is', null).where('length', '>', 0))
    .execute();
  const chosen = chains.filter(({ id }) => all || id === own);
  for (const { id, length } of chosen) await makeSeam(tx, id, length);
  return chosen.length;
}

async function makeSeam(tx: Tx, chain: string, rows: number): Promise<void> {
  const sent: Promise<unknown>[] = [];
  const entry: LedgerEntry = { ...SERVICE, operation: SEAM, target: chain, detail: { rows } };
  await appendLedger(
    tx.db,
    { chain, at: tx.now, ring: tx.ring, isKeyed: true, later: (statement) => void sent.push(statement) },
    [entry],
  );
  await Promise.all(sent);
}

/** Tags the privileged jobs that a build without tags left. Answers how many. */
async function tagWaitingJobs(tx: Tx): Promise<number> {
  const rows = await tx.db
    .selectFrom('jobs')
    .selectAll()
    .where('privileged', '=', 1)
    .where('state', 'in', MAY_RUN)
    .where('order_tag', 'is', null)
    .execute();
  for (const row of rows)
    await tx.db
      .updateTable('jobs')
      .set(tagOf(tx.ring, 'jobs', row))
      .where('id', '=', row.id)
      .execute();
  return rows.length;
}
