import { oneLine } from '../domain/one-line.ts';
import type { NotificationMessage } from '../domain/notify/row.ts';
import { encryptPush, type PushKeys } from './encrypt.ts';
import { readEndpointUrl } from './endpoint-url.ts';
import { ntfyBody } from './ntfy.ts';
import { post, type PostDeps } from './post.ts';
import type { VapidKey } from './vapid.ts';

/** How long a distributor keeps a message for a phone that is off, in seconds: a day. */
const TTL_SECONDS = 86_400;
/** The capacity of one encrypted record without its frame. */
const PLAIN_BYTES_MAX = 3_900;
/** The length of title and text where one record cannot hold the notification. */
const SHORT_CHARACTERS = 200;

export interface EndpointTarget {
  readonly endpoint: string;
  readonly keys: PushKeys | null;
}

interface EndpointDeps extends PostDeps {
  readonly vapid: () => Promise<VapidKey>;
  /** Where the web pages of the service are. */
  readonly baseUrl: string;
}

/** Posts to a registered endpoint: ntfy's JSON; where the subscription has keys, encrypted and signed by ours. */
export async function sendToEndpoint(
  deps: EndpointDeps,
  { endpoint, keys }: EndpointTarget,
  message: NotificationMessage,
): Promise<void> {
  // The present rules also apply to endpoints registered under older ones.
  const url = readEndpointUrl(endpoint);
  // A repeat has the same topic, so that a phone that was off gets only one.
  const headers = { ttl: String(TTL_SECONDS), topic: message.id, urgency: message.priority >= 4 ? 'high' : 'normal' };
  if (keys === null) {
    return post(deps, {
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(ntfyBody(message)),
    });
  }
  const vapid = await deps.vapid();
  return post(deps, {
    url,
    headers: {
      ...headers,
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      authorization: vapid.authorization(url, deps.baseUrl, deps.clock.now()),
    },
    body: encryptPush(keys, fitting(message)),
  });
}

/** The whole notification, or without buttons and long text where one record cannot hold it. */
function fitting(message: NotificationMessage): string {
  const whole = JSON.stringify(ntfyBody(message));
  if (Buffer.byteLength(whole) <= PLAIN_BYTES_MAX) return whole;
  return JSON.stringify(
    ntfyBody({
      ...message,
      title: oneLine(message.title.slice(0, SHORT_CHARACTERS)),
      message: oneLine(message.message.slice(0, SHORT_CHARACTERS)),
      actions: [],
    }),
  );
}
