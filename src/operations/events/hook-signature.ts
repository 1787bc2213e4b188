/** Signed messages: the URL of such a webhook alone is not enough to send one, and a message is accepted once. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebhookSource } from '../../domain/events/event.ts';
import { Failure } from '../../domain/failure.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../domain/events/webhook-signature.ts';
import { newId } from '../../lib/id.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { WebhookRow, WebhookSignatureRow } from '../../store/schema/schema.ts';
import { findSigningSecret, takeSignature } from '../../store/events/webhook-signing.ts';
import type { Runtime } from '../core/invoke.ts';

/** Bytes that are hashed at a time: about a millisecond on a processor without instructions for SHA. */
const SLICE_BYTES = 262_144;

/** A checked signature; it is stored with its message. */
export type Signature = WebhookSignatureRow;

/**
 * What a sender claims: Unix seconds, the HMAC in hex, and the separator of the time and the body in the signed text.
 */
interface Claim {
  readonly seconds: string;
  readonly hex: string;
  readonly separator: '.' | ':';
}

/** Senders with their own form. The headers are settings of Grafana; the first one is its default. */
const FORMS: Partial<Record<WebhookSource, (headers: IncomingHttpHeaders) => Claim>> = { grafana: grafanaClaim };

/**
 * Checks who sent these bytes; null for a webhook whose messages are not signed. Throws unauthenticated where the
 * signature is missing or does not fit, and unavailable where it cannot be checked.
 */
export async function checkSignature(
  runtime: Runtime,
  row: WebhookRow,
  headers: IncomingHttpHeaders,
  bytes: Uint8Array,
): Promise<Signature | null> {
  if (row.signed !== 1) return null;
  const { seconds, hex, separator } = (FORMS[row.source] ?? ownClaim)(headers);
  const now = runtime.services.clock.now();
  const expected = await signatureOf(runtime, await secretOf(runtime, row), `${seconds}${separator}`, bytes);
  if (!timingSafeEqual(Buffer.from(hex, 'hex'), expected)) throw refused('The signature does not fit the message.');
  const signedAt = Number(seconds) * 1_000;
  if (Math.abs(now - signedAt) > SIGNATURE_TOLERANCE_MS)
    throw refused('The time of the signature is more than 5m from that of this service.');
  return { webhook: row.name, signature: hex, message: newId('req', now), signed_at: signedAt };
}

async function signatureOf(
  { services }: Runtime,
  secret: Uint8Array,
  head: string,
  bytes: Uint8Array,
): Promise<Buffer> {
  const mac = createHmac('sha256', secret).update(head);
  const slices = Array.from({ length: Math.ceil(bytes.length / SLICE_BYTES) }, (_, n) =>
    bytes.subarray(n * SLICE_BYTES, (n + 1) * SLICE_BYTES),
  );
  await services.reaction.turns.each(slices, (slice) => mac.update(slice));
  return mac.digest();
}

/**
 * As `reaction`; each write also stores the signature, and is refused if another message was stored with it.
 */
export function takenOnce(reaction: ReactionDeps, signature: Signature | null): ReactionDeps {
  if (signature === null) return reaction;
  const { store } = reaction;
  return {
    ...reaction,
    store: {
      ...store,
      write: (work, options) =>
        store.write(async (tx) => {
          await takeSignature(tx, signature);
          return work(tx);
        }, options),
    },
  };
}

function ownClaim(headers: IncomingHttpHeaders): Claim {
  const [, seconds, hex] = /^t=(\d{1,11}),v1=([0-9a-f]{64})$/.exec(textOf(headers['x-gatehouse-signature'])) ?? [];
  if (seconds === undefined || hex === undefined)
    throw refused('X-Gatehouse-Signature: expected t=SECONDS,v1=HEX, the HMAC-SHA256 of "SECONDS.BODY".');
  return { seconds, hex, separator: '.' };
}

function grafanaClaim(headers: IncomingHttpHeaders): Claim {
  const [hex] = /^[0-9a-f]{64}$/.exec(textOf(headers['x-grafana-alerting-signature'])) ?? [];
  if (hex === undefined) throw refused('X-Grafana-Alerting-Signature: expected an HMAC-SHA256 in hex.');
  const [seconds] = /^\d{1,11}$/.exec(textOf(headers['x-grafana-alerting-timestamp'])) ?? [];
  // Without a time a signature would be valid for ever.
  if (seconds === undefined)
    throw refused(
      'X-Grafana-Alerting-Timestamp: expected Unix seconds; name this header as the timestamp header in Grafana.',
    );
  return { seconds, hex, separator: ':' };
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

async function secretOf({ store, services }: Runtime, { name }: WebhookRow): Promise<Uint8Array> {
  try {
    const secret = await findSigningSecret(store.db, await services.keyring(), name);
    if (secret !== undefined) return secret;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The sender cannot correct this and sends again; the doctor reports what is wrong with the key.
    throw new Failure('unavailable', 'The signature cannot be checked at the moment.');
  }
  throw refused('This webhook was closed.');
}

function refused(why: string): Failure {
  return new Failure('unauthenticated', why);
}
