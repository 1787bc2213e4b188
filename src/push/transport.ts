import type { PageMessage } from '../domain/page.ts';
import { Failure } from '../domain/failure.ts';
import type { Clock } from '../lib/clock.ts';
import { openDial } from './dial-guard.ts';
import { sendNtfy } from './ntfy.ts';
import type { PostDeps } from './post.ts';
import { mailOf, sendMail } from './smtp.ts';
import { sendWebhook } from './webhook.ts';

/** Takes a page to its target. Throws SendFailed; resolves once the target has taken it. */
export type Send = (message: PageMessage) => Promise<void>;

/** A target that the operator named with `--notify`. */
export interface Transport {
  /** `transport:1` is the first one that was named. */
  readonly name: string;
  /** For people, such as `ntfy at ntfy.example.com`: its kind and its host, never a path or a credential. */
  readonly label: string;
  readonly send: Send;
}

interface Kind {
  readonly label: string;
  readonly make: (url: URL, deps: PostDeps) => Send;
}

/** What a URL's scheme stands for. A new transport is a row here and a file beside this. */
const TRANSPORTS: Readonly<Record<string, Kind>> = {
  'ntfy+https:': { label: 'ntfy', make: (url, deps) => sendNtfy(asHttp(url), deps) },
  'ntfy+http:': { label: 'ntfy', make: (url, deps) => sendNtfy(asHttp(url), deps) },
  'https:': { label: 'webhook', make: (url, deps) => sendWebhook(url, deps) },
  'http:': { label: 'webhook', make: (url, deps) => sendWebhook(url, deps) },
  'smtp:': { label: 'mail', make: (url) => sendMail(mailOf(url)) },
  'smtps:': { label: 'mail', make: (url) => sendMail(mailOf(url)) },
};

/** Reads one target; throws invalid_argument that does not repeat the URL, which may hold a password. */
export function readTransport(text: string, position: number, deps: { readonly clock: Clock }): Transport {
  const url = URL.canParse(text) ? new URL(text) : null;
  const kind = url === null ? undefined : TRANSPORTS[url.protocol];
  if (url === null || kind === undefined) {
    throw new Failure('invalid_argument', `--notify: target ${position} is none of ntfy+https://, ntfy+http://, smtp://, smtps://, https:// and http://.`);
  }
  const dial = openDial();
  return { name: `transport:${position}`, label: `${kind.label} at ${asHttp(url).hostname}`, send: kind.make(url, { clock: deps.clock, dial }) };
}

/** `new URL` knows the host of such a scheme only without the words before the plus sign. */
function asHttp(url: URL): URL {
  return new URL(url.href.replace(/^ntfy\+/, ''));
}
