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
  readonly send: Send;
}

type Make = (url: URL, deps: PostDeps) => Send;

/** What a URL's scheme stands for. A new transport is a row here and a file beside this. */
const TRANSPORTS: Readonly<Record<string, Make>> = {
  'ntfy+https:': (url, deps) => sendNtfy(asHttp(url), deps),
  'ntfy+http:': (url, deps) => sendNtfy(asHttp(url), deps),
  'https:': (url, deps) => sendWebhook(url, deps),
  'http:': (url, deps) => sendWebhook(url, deps),
  'smtp:': (url) => sendMail(mailOf(url)),
  'smtps:': (url) => sendMail(mailOf(url)),
};

/** Reads one target; throws invalid_argument that does not repeat the URL, which may hold a password. */
export function readTransport(text: string, position: number, deps: { readonly clock: Clock }): Transport {
  const url = URL.canParse(text) ? new URL(text) : null;
  const make = url === null ? undefined : TRANSPORTS[url.protocol];
  if (url === null || make === undefined) {
    throw new Failure('invalid_argument', `--notify: target ${position} is none of ntfy+https://, ntfy+http://, smtp://, smtps://, https:// and http://.`);
  }
  const dial = openDial();
  return { name: `transport:${position}`, send: make(url, { clock: deps.clock, dial }) };
}

/** `new URL` knows the host of such a scheme only without the words before the plus sign. */
function asHttp(url: URL): URL {
  return new URL(url.href.replace(/^ntfy\+/, ''));
}
