import type { NotificationMessage } from '../domain/notify/row.ts';
import { authorizationOf } from '../dial/authorization.ts';
import { post, type PostDeps } from './post.ts';

/** Posts the notification as JSON with its id, by which the receiver recognises a repeat. */
export function sendWebhook(url: URL, deps: PostDeps): (message: NotificationMessage) => Promise<void> {
  const headers = { 'content-type': 'application/json', ...authorizationOf(url) };
  return (message) =>
    post(deps, { url, headers: { ...headers, 'idempotency-key': message.id }, body: JSON.stringify(message) });
}
