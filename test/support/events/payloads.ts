/** What the tests of the normalisers send, and how they look at what comes of it. */
import type { WebhookSource } from '../../../src/domain/events/event.ts';
import { normalise as normalised } from '../../../src/reaction/normalise/normalise.ts';
import { type Normalised, Unreadable } from '../../../src/reaction/normalise/payload.ts';

export interface Sent {
  readonly contentType?: string;
  readonly query?: string;
}

/** Sends a text as it is, anything else as JSON. */
export function normalise(
  source: WebhookSource,
  body: unknown,
  { contentType = 'application/json', query = '' }: Sent = {},
): Normalised {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
  return normalised(source, { contentType, query, bytes });
}

/** The sentence with which a payload is refused; null where it is read. */
export function refusal(source: WebhookSource, body: unknown, sent: Sent = {}): string | null {
  try {
    normalise(source, body, sent);
    return null;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return error.message;
  }
}
