import type { NotificationMessage } from '../domain/notify/row.ts';
import { authorizationOf } from '../dial/authorization.ts';
import { post, type PostDeps } from './post.ts';

/** ntfy makes an attachment of a message that is longer. */
const MESSAGE_BYTES_MAX = 4_096;

/** The members of ntfy's JSON for a notification. */
export function ntfyBody(message: NotificationMessage): Record<string, unknown> {
  const { id, title, message: text, priority, tags, click, actions } = message;
  return { id, title, message: shortened(text), priority, tags, click, actions };
}

function shortened(text: string): string {
  const bytes = Buffer.from(text);
  // If the cut splits the last character, it becomes the replacement character.
  return bytes.length <= MESSAGE_BYTES_MAX ? text : bytes.subarray(0, MESSAGE_BYTES_MAX - 3).toString();
}

/** Publishes as JSON to the root of the server, with the topic as a member. */
export function sendNtfy(url: URL, deps: PostDeps): (message: NotificationMessage) => Promise<void> {
  const [, folder = '', topic = ''] = /^(.*)\/([^/]+)$/.exec(url.pathname) ?? [];
  const root = new URL(`${folder}/`, url);
  const headers = { 'content-type': 'application/json', ...authorizationOf(url) };
  return (message) => {
    const { id, ...body } = ntfyBody(message);
    // With the same sequence id, a repeat replaces the first notification on the phone.
    const sent = { topic, ...body, sequence_id: id };
    return post(deps, { url: root, headers, body: JSON.stringify(sent) });
  };
}
