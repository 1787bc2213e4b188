import type { WebhookSource } from '../../domain/events/event.ts';
import { REPAIRED } from '../../domain/events/message-refusal.ts';
import { alertmanager } from './alertmanager.ts';
import { gatus } from './gatus.ts';
import { generic } from './generic.ts';
import { grafana } from './grafana.ts';
import { healthchecks } from './healthchecks.ts';
import { type Normalised, type Normaliser, type Payload, Unreadable } from './payload.ts';
import { repaired } from './json/repair.ts';
import { uptimeKuma } from './uptime-kuma.ts';

/** How the payload of each kind of sender is read. Another sender is one more row, and three payloads in its test. */
const NORMALISERS = { generic, alertmanager, grafana, 'uptime-kuma': uptimeKuma, gatus, healthchecks } satisfies Record<
  WebhookSource,
  Normaliser
>;

/** The events of a payload that is as it should be. Throws Unreadable. */
export function normaliseStrictly(source: WebhookSource, payload: Payload): Normalised {
  return NORMALISERS[source](payload);
}

/**
 * The events of a payload. One that its normaliser refuses is repaired and read again: what is read without repairs
 * never gets one. Throws Unreadable.
 */
export function normalise(source: WebhookSource, payload: Payload): Normalised {
  try {
    return normaliseStrictly(source, payload);
  } catch (error) {
    if (!(error instanceof Unreadable) || error.refusal !== 'unreadable') throw error;
    const better = repaired(payload);
    if (better === null) throw error;
    const { events, problems } = NORMALISERS[source](better);
    return { events, problems: [...problems, REPAIRED] };
  }
}
