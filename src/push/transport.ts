import { deliveryTargetOf, type NotifyTarget } from '../domain/notify/target.ts';
import type { NotificationMessage } from '../domain/notify/row.ts';
import type { Clock } from '../lib/clock.ts';
import { openDial } from '../dial/guard.ts';
import { sendNtfy } from './ntfy.ts';
import type { PostDeps } from './post.ts';
import { mailOf, sendMail } from './smtp.ts';
import { readTargets, targetKey } from './target-names.ts';
import type { TargetKind } from './target-url.ts';
import { sendWebhook } from './webhook.ts';

/** Sends a notification to its target. Throws DialFailed; resolves when the target has accepted it. */
type Send = (message: NotificationMessage) => Promise<void>;

/** A target that the operator configured with `--notify`. */
export interface Transport extends NotifyTarget {
  /** The id of its deliveries in the store. */
  readonly id: string;
  /** For people, such as `ntfy at ntfy.example.com`: kind and host, never a path or a credential. */
  readonly label: string;
  readonly send: Send;
}

type Make = (url: URL, deps: PostDeps) => Send;

/** The senders by kind. A new transport is a row here, its schemes in target-url.ts, and a file in this folder. */
const TRANSPORTS: Readonly<Record<TargetKind, Make>> = {
  ntfy: sendNtfy,
  webhook: sendWebhook,
  mail: (url, deps) => sendMail(mailOf(url), deps),
};

export interface TransportDeps {
  readonly clock: Clock;
  /** Keys the identifiers of the targets. */
  readonly sealKey: Uint8Array;
}

/** Reads the targets of `--notify`; throws invalid_argument without the URL, which may hold a password. */
export function readTransports(texts: readonly string[], { clock, sealKey }: TransportDeps): Transport[] {
  return readTargets(texts).map((target) => {
    const { name, kind, url } = target;
    const key = targetKey(target, sealKey);
    return {
      name,
      key,
      id: deliveryTargetOf({ name, key }),
      label: `${kind} at ${url.hostname}`,
      send: TRANSPORTS[kind](url, { clock, dial: openDial() }),
    };
  });
}
