import type { WebhookSource } from '../../domain/events/event.ts';
import { makeEvent, said } from './make-event.ts';
import {
  type Fields,
  flatFields,
  isBodyless,
  isFields,
  normalisedOne,
  normaliseEach,
  objectOf,
  parseJson,
  type Normalised,
  type Normaliser,
  Unreadable,
} from './payload.ts';
import { statusOf } from './status.ts';

/** Texts that many senders put at the top level beside `annotations`. */
const MORE_ANNOTATIONS = ['summary', 'description', 'message', 'url'] as const;

/**
 * `{name, status?, severity?, fingerprint?, labels?, annotations?}`, a list of these, or the same fields in a query or
 * a form.
 */
export const generic: Normaliser = (payload) => {
  if (isBodyless(payload)) return normalisedOne(genericEvent(flatFields(payload), 'generic'));
  if (payload.bytes[0] === LIST) {
    const list = parseJson(payload.bytes);
    if (Array.isArray(list)) return normaliseEach(list, (fields) => genericEvent(fields, 'generic'));
  }
  return normalisedOne(genericEvent(flatFields(payload), 'generic'));
};

const LIST = 0x5b;

/** Reads a custom payload of another source as generic, and keeps the source. Throws Unreadable. */
export function genericOf(body: unknown, source: WebhookSource): Normalised {
  return Array.isArray(body)
    ? normaliseEach(body, (fields) => genericEvent(fields, source))
    : normalisedOne(genericEvent(objectOf(body), source));
}

function genericEvent(fields: Fields, source: WebhookSource): ReturnType<typeof makeEvent> {
  const labels = recordOf(fields, 'labels');
  const name = [fields['name'], fields['title'], fields['alertname'], labels['alertname']].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (name === undefined) throw new Unreadable('name: expected a non-empty text.');
  const status = statusOf(fields['status']);
  return makeEvent({
    source,
    name,
    status,
    severity: fields['severity'],
    fingerprint: fields['fingerprint'],
    labels,
    annotations: {
      ...said(Object.fromEntries(MORE_ANNOTATIONS.map((key) => [key, fields[key]]))),
      ...(status === null ? said({ status: fields['status'] }) : {}),
      ...recordOf(fields, 'annotations'),
    },
  });
}

function recordOf(fields: Fields, key: string): Fields {
  const value = fields[key];
  if (value === undefined || value === null) return {};
  if (!isFields(value)) throw new Unreadable(`${key}: expected an object of texts.`);
  return value;
}
