import { Failure } from '../../domain/failure.ts';
import { found, hasChanged, insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, DeadmanRow } from '../schema/schema.ts';

/** A watch, and when its webhook was last heard (null for never). All times are by the store's clock. */
export type Watch = DeadmanRow & { readonly last_heard_at: number | null };

function watches(db: Db) {
  return db
    .selectFrom('deadmen')
    .innerJoin('webhooks', 'webhooks.name', 'deadmen.webhook')
    .selectAll('deadmen')
    .select('webhooks.last_heard_at');
}

/** By name. */
export function listWatches(db: Db): Promise<Watch[]> {
  return watches(db).orderBy('deadmen.name').execute();
}

/**
 * The names of the watches that listen to a webhook: without it they would be blind. None begins to until the write
 * ends.
 */
export async function watchesOf(tx: Tx, webhook: string): Promise<string[]> {
  await tx.dialect.lockKey(tx.db, webhookKey(webhook));
  const rows = await tx.db
    .selectFrom('deadmen')
    .select('name')
    .where('webhook', '=', webhook)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

function webhookKey(name: string): string {
  return `webhook:${name}`;
}

/** Throws not_found for an unknown webhook and duplicate for a name that is taken. */
export async function insertWatch(
  tx: Tx,
  row: Pick<DeadmanRow, 'name' | 'webhook' | 'every_ms' | 'added_by'>,
): Promise<Watch> {
  await tx.dialect.lockKey(tx.db, webhookKey(row.webhook));
  const webhook = await tx.db
    .selectFrom('webhooks')
    .select('last_heard_at')
    .where('name', '=', row.webhook)
    .executeTakeFirst();
  const { last_heard_at: heardAt } = found(webhook, 'webhook', row.webhook);
  const whole: DeadmanRow = { ...row, created_at: await tx.dialect.clock(tx.db, tx.now), tripped_at: null };
  if (!(await insertRow(tx.db, 'deadmen', whole, 'skip')))
    throw new Failure('duplicate', `name: a watch with the name ${row.name} already exists.`);
  return { ...whole, last_heard_at: heardAt };
}

/** The watch as it was. Throws not_found. */
export async function deleteWatch(tx: Tx, name: string): Promise<Watch> {
  const watch = await watches(tx.db).where('deadmen.name', '=', name).executeTakeFirst();
  const { numDeletedRows: deleted } = await tx.db.deleteFrom('deadmen').where('name', '=', name).executeTakeFirst();
  return found(deleted === 0n ? undefined : watch, 'watch', name);
}

/**
 * Records that its silence was reported at `at`; false if another daemon did so, or if it was heard since it was read.
 */
export function tripWatch(tx: Tx, { name, webhook, last_heard_at: heardAt }: Watch, at: number): Promise<boolean> {
  const heardSince = tx.db
    .selectFrom('webhooks')
    .select('name')
    .where('name', '=', webhook)
    .where('last_heard_at', '>', heardAt ?? 0);
  return hasChanged(
    tx.db
      .updateTable('deadmen')
      .set({ tripped_at: at })
      .where('name', '=', name)
      .where('tripped_at', 'is', null)
      .where((is) => is.not(is.exists(heardSince))),
  );
}

/**
 * Records that it is heard again after the silence that was reported at `trippedAt`; false where another daemon did.
 */
export function restWatch(tx: Tx, name: string, trippedAt: number): Promise<boolean> {
  const update = tx.db.updateTable('deadmen').set({ tripped_at: null }).where('name', '=', name);
  return hasChanged(update.where('tripped_at', '=', trippedAt));
}
