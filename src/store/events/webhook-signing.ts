import { Failure } from '../../domain/failure.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../domain/events/webhook-signature.ts';
import type { Keyring } from '../../lib/seal.ts';
import { countOf, insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import { openSealed, webhookKeyLabel } from '../secrets/seal.ts';
import type { Db, WebhookSignatureRow } from '../schema/schema.ts';

/** What the messages of signed webhooks are signed with, and which signatures were taken. */

/**
 * For so long after the time that it says a signature stays noted. Once the tolerance has passed nobody takes it; the
 * other half is for a daemon whose clock is behind that of the one which forgets it.
 */
const SIGNATURE_KEPT_MS = 2 * SIGNATURE_TOLERANCE_MS;
/**
 * Signatures that are noted of one webhook, 33 messages a second over ten minutes: alerts come in groups, and to count
 * them takes a millisecond. What is above is refused for the moment, since a repeat of it could not be told.
 */
const SIGNATURES_MAX = 20_000;

/** Keeps the secret of a webhook that has none, sealed. */
export async function setSigningSecret(tx: Tx, ring: Keyring, webhook: string, secret: string): Promise<void> {
  const sealed = ring.seal(webhookKeyLabel({ webhook }), Buffer.from(secret));
  await tx.db.insertInto('webhook_keys').values({ webhook, sealed, key_id: ring.activeId }).execute();
}

/** Throws conflict where it cannot be opened; undefined where the webhook was removed. */
export async function findSigningSecret(db: Db, ring: Keyring, webhook: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('webhook_keys').select('sealed').where('webhook', '=', webhook).executeTakeFirst();
  if (row === undefined) return undefined;
  return openSealed(
    ring,
    webhookKeyLabel({ webhook }),
    row.sealed,
    `the messages of webhook ${webhook} cannot be checked`,
  );
}

/**
 * Notes a signature, in the write of what came with it. Throws conflict where another message came with it, and
 * unavailable where too many are noted.
 */
export async function takeSignature(tx: Tx, row: WebhookSignatureRow, max = SIGNATURES_MAX): Promise<void> {
  const { webhook, signature, message } = row;
  if (!(await insertRow(tx.db, 'webhook_signatures', row, 'skip'))) {
    const before = await tx.db
      .selectFrom('webhook_signatures')
      .select('message')
      .where('webhook', '=', webhook)
      .where('signature', '=', signature)
      .executeTakeFirst();
    if (before?.message === message) return;
    throw new Failure('conflict', 'A message with this signature was already accepted: this one was ignored.');
  }
  await tx.db
    .deleteFrom('webhook_signatures')
    .where('signed_at', '<', tx.now - SIGNATURE_KEPT_MS)
    .execute();
  if ((await countOf(tx.db.selectFrom('webhook_signatures').where('webhook', '=', webhook))) > max)
    throw new Failure('unavailable', 'Too many signed messages in ten minutes: this one was not accepted.');
}

/** All that is known of the signing of a webhook, which is gone. */
export async function deleteSigning(tx: Tx, webhook: string): Promise<void> {
  await tx.db.deleteFrom('webhook_keys').where('webhook', '=', webhook).execute();
  await tx.db.deleteFrom('webhook_signatures').where('webhook', '=', webhook).execute();
}
