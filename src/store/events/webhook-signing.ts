import { Failure } from '../../domain/failure.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../domain/events/webhook-signature.ts';
import type { Keyring } from '../../lib/seal.ts';
import { countOf, insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import { openSealed, webhookKeyLabel } from '../secrets/seal.ts';
import type { Db, WebhookSignatureRow } from '../schema/schema.ts';

/** The signing secrets of webhooks, and the signatures that were accepted. */

/**
 * A signature is stored this long after its own time, in milliseconds. It is invalid after the tolerance; the second
 * half is for a daemon whose clock is behind that of the daemon that deletes it.
 */
const SIGNATURE_KEPT_MS = 2 * SIGNATURE_TOLERANCE_MS;
/**
 * The stored signatures of one webhook, 33 messages a second over ten minutes: alerts come in groups, and to count them
 * takes a millisecond. Further messages are refused for the moment, because a repeat of them could not be recognised.
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
