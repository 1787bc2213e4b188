import { leftOut } from '../../domain/events/message-refusal.ts';
import type { EventStatus, NormalEvent, WebhookSource } from '../../domain/events/event.ts';
import { genericOf } from './generic.ts';
import { makeEvent, said } from './make-event.ts';
import {
  type Fields,
  flatFields,
  isBodyless,
  isFields,
  normaliseEach,
  parseJson,
  type Normalised,
  type Normaliser,
  Unreadable,
} from './payload.ts';
import { statusOf } from './status.ts';

/** An end that has not come yet, as Go writes the time zero. */
const NO_TIME = /^0001-01-01T/;

/** Alertmanager's webhook, version 4; the output of a `payload` template is read as generic. */
export const alertmanager: Normaliser = (payload) => {
  if (isBodyless(payload)) return genericOf(flatFields(payload), 'alertmanager');
  const body = parseJson(payload.bytes);
  return alertGroup(body, 'alertmanager', () => ({})) ?? genericOf(body, 'alertmanager');
};

/**
 * One event for each alert of a group, with the status and the fingerprint of the alert: a firing group may hold
 * resolved alerts. Null if the payload is not a group.
 */
export function alertGroup(body: unknown, source: WebhookSource, more: (alert: Fields) => Fields): Normalised | null {
  if (!isFields(body) || !Array.isArray(body['alerts'])) return null;
  const { events, problems } = normaliseEach(body['alerts'], (alert) => alertEvent(alert, source, more(alert)));
  const missing = body['truncatedAlerts'];
  if (typeof missing !== 'number' || missing <= 0) return { events, problems };
  return { events, problems: [...problems, leftOut(missing)] };
}

function alertEvent(alert: Fields, source: WebhookSource, more: Fields): NormalEvent {
  const { labels } = alert;
  if (!isFields(labels)) throw new Unreadable('labels: expected an object of texts.');
  const { startsAt, endsAt, generatorURL } = alert;
  const ended = typeof endsAt === 'string' && endsAt !== '' && !NO_TIME.test(endsAt);
  return makeEvent({
    source,
    name: labels['alertname'],
    status: alertStatus(alert, ended),
    fingerprint: alert['fingerprint'],
    labels,
    annotations: {
      ...said({ starts_at: startsAt, ends_at: ended ? endsAt : '', generator_url: generatorURL, ...more }),
      ...(isFields(alert['annotations']) ? alert['annotations'] : {}),
    },
  });
}

function alertStatus(alert: Fields, ended: boolean): EventStatus | null {
  const { status } = alert;
  if (status !== undefined && status !== null) return statusOf(status);
  return ended ? 'resolved' : 'firing';
}
