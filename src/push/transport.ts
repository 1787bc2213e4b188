import { deliveryTargetOf, type NotifyTarget } from '../domain/notify/target.ts';
import type { NotificationMessage } from '../domain/notify/notification.ts';
import type { Clock } from '../lib/clock.ts';
import { openDial } from '../dial/guard.ts';
import { sendNtfy } from './ntfy.ts';
import type { PostDeps } from './post.ts';
import { mailOf, sendMail } from './smtp.ts';
import { readTargets, targetKey } from './target-names.ts';
import type { TargetKind } from './target-url.ts';
import { sendWebhook } from './webhook.ts';

/** Takes a page to its target. Throws DialFailed; resolves once the target has taken it. */
type Send = (message: NotificationMessage) => Promise<void>;

/** A target that the operator configured with `--notify`. */
export interface Transport extends NotifyTarget {
  /** What its deliveries are recorded under. */
  readonly id: string;
  /** For people, such as `ntfy at ntfy.example.com`: its kind and its host, never a path or a credential. */
  readonly label: string;
  readonly send: Send;
}

type Make = (url: URL, deps: PostDeps) => Send;

/**
 * How each kind of target is sent to. A new transport is a row here, its schemes in target-url.ts, and a file beside
 * this.
 */
const TRANSPORTS: Readonly<Record<TargetKind, Make>> = {
  ntfy: sendNtfy,
  webhook: sendWebhook,
  mail: (url, deps) => sendMail(mailOf(url), deps),
};

export interface TransportDeps {
  readonly clock: Clock;
  /** Keys what identifies the targets. */
  readonly sealKey: Uint8Array;
}

/** Reads the targets of `--notify`; throws invalid_argument that does not repeat a URL, which may hold a password. */
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
