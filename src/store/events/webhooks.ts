import { hash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { forgetManaged } from '../configuration/managed.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { type Checked, ifTagged, tagOf, type TagReader } from '../engine/tags/tags.ts';
import type { Db, WebhookRow } from '../schema/schema.ts';
import { deleteSigning } from './webhook-signing.ts';

/** What a webhook is looked up by: nothing that the store holds lets anybody send. */
export function webhookHash(token: string): string {
  return hash('sha256', token);
}

const webhookByHash = rowBy('webhooks', 'hash');

/** By the hash of its token. Undefined too for one that somebody wrote into the database. */
export async function findWebhook(at: TagReader, hashOfToken: string): Promise<Checked<WebhookRow> | undefined> {
  return ifTagged(at, 'webhooks', await webhookByHash(at.db, hashOfToken));
}

/** By name. */
export function listWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom('webhooks').selectAll().orderBy('name').execute();
}

/** Throws duplicate where the name is taken. */
export async function insertWebhook(tx: Tx, added: Untagged<WebhookRow>): Promise<void> {
  const row = { ...added, signed: added.signed ?? 0 };
  if (!(await insertRow(tx.db, 'webhooks', { ...row, ...tagOf(tx.ring, 'webhooks', row) }, 'skip')))
    throw new Failure('duplicate', `name: a webhook with the name ${row.name} already exists.`);
}

/** Throws not_found. Its token opens nothing from then on. */
export async function deleteWebhook(tx: Tx, name: string): Promise<WebhookRow> {
  const deleted = await tx.db.deleteFrom('webhooks').where('name', '=', name).returningAll().executeTakeFirst();
  await deleteSigning(tx, name);
  await forgetManaged(tx, 'webhook', name);
  return found(deleted, 'webhook', name);
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
