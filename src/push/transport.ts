import type { PageMessage } from '../domain/page.ts';
import type { Clock } from '../lib/clock.ts';
import { openDial } from './dial-guard.ts';
import { sendNtfy } from './ntfy.ts';
import type { PostDeps } from './post.ts';
import { mailOf, sendMail } from './smtp.ts';
import { readTargetUrl, type TargetKind } from './target-url.ts';
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

type Make = (url: URL, deps: PostDeps) => Send;

/** How each kind of target is sent to. A new transport is a row here, its schemes in target-url.ts, and a file beside this. */
const TRANSPORTS: Readonly<Record<TargetKind, Make>> = {
  ntfy: sendNtfy,
  webhook: sendWebhook,
  mail: (url, deps) => sendMail(mailOf(url), deps),
};

/** Reads one target; throws invalid_argument that does not repeat the URL, which may hold a password. */
export function readTransport(text: string, position: number, { clock }: { readonly clock: Clock }): Transport {
  const { kind, url } = readTargetUrl(text, position);
  const send = TRANSPORTS[kind](url, { clock, dial: openDial() });
  return { name: `transport:${position}`, label: `${kind} at ${url.hostname}`, send };
}
