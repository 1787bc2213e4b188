import type { PageMessage } from '../domain/page.ts';
import { post, type PostDeps } from './post.ts';

/** Posts the page as JSON with its id, by which the receiver knows a repeat. */
export function sendWebhook(url: URL, deps: PostDeps): (message: PageMessage) => Promise<void> {
  return (message) => post(deps, { url, headers: { 'content-type': 'application/json', 'idempotency-key': message.id }, body: JSON.stringify(message) });
}
