import { hash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import type { Db, WebhookRow } from '../schema/schema.ts';
import { deleteSigning } from './webhook-signing.ts';

/** What a webhook is looked up by: nothing that the store holds lets anybody send. */
export function webhookHash(token: string): string {
  return hash('sha256', token);
}

const byHash = prepared<{ hash: string }, WebhookRow>((db, value) =>
  db.selectFrom('webhooks').selectAll().where('hash', '=', value('hash')),
);

export async function findWebhook(db: Db, hashOfToken: string): Promise<WebhookRow | undefined> {
  return (await byHash(db, { hash: hashOfToken })).rows[0];
}

/** By name. */
export function listWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom('webhooks').selectAll().orderBy('name').execute();
}

/** Throws duplicate where the name is taken. */
export async function insertWebhook(tx: Tx, row: WebhookRow): Promise<void> {
  const taken = await tx.db.selectFrom('webhooks').select('name').where('name', '=', row.name).executeTakeFirst();
  if (taken !== undefined) throw nameTaken(row.name);
  try {
    await tx.db.insertInto('webhooks').values(row).execute();
  } catch (error) {
    // Another process made one of that name in this moment.
    if (tx.dialect.faultOf(error) === 'unique') throw nameTaken(row.name);
    throw error;
  }
}

function nameTaken(name: string): Failure {
  return new Failure('duplicate', `name: a webhook with the name ${name} already exists.`);
}

/** Throws not_found. Its token opens nothing from then on. */
export async function deleteWebhook(tx: Tx, name: string): Promise<WebhookRow> {
  const deleted = await tx.db.deleteFrom('webhooks').where('name', '=', name).returningAll().executeTakeFirst();
  if (deleted === undefined) throw new Failure('not_found', `There is no webhook ${name}.`);
  await deleteSigning(tx, name);
  return deleted;
}

const heard = prepared<{ hash: string; now: number }, unknown>((db, value) =>
  db
    .updateTable('webhooks')
    .set({ last_heard_at: value('now') })
    .where('hash', '=', value('hash')),
);

/** Notes that it was heard now, by the store's clock: the daemon that watches it may be another. */
export async function markHeard(tx: Tx, hashOfToken: string): Promise<void> {
  tx.later(heard(tx.db, { hash: hashOfToken, now: await tx.dialect.clock(tx.db, tx.now) }));
}
