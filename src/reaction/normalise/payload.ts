import type { NormalEvent } from '../../domain/events/event.ts';
import type { MessageRefusal } from '../../domain/events/message-refusal.ts';
import { checkJsonShape } from './json/json-shape.ts';
import { textOfBytes } from './json/text-of-bytes.ts';

/** What a sender sent, as it came. */
export interface Payload {
  /** Of the header; empty without one. */
  readonly contentType: string;
  /** Of the URL, without the question mark. */
  readonly query: string;
  readonly bytes: Buffer;
}

/** The events of a payload, in its order, and a sentence for each part of it that could not be read. */
export interface Normalised {
  readonly events: readonly NormalEvent[];
  readonly problems: readonly string[];
}

/** Throws Unreadable where no event can be read at all. */
export type Normaliser = (payload: Payload) => Normalised;

/** Alerts of one payload. A payload with more is refused as a whole, so that no alert is lost unnoticed. */
const ALERTS_MAX = 10_000;
/** Texts of all events of one payload together, in characters: as many as the longest message has bytes. */
const KEPT_CHARACTERS_MAX = 8_388_608;

/** A payload of which nothing can be read. The message is a sentence that names the field and no value. */
export class Unreadable extends Error {
  readonly refusal: MessageRefusal;

  constructor(why: string, refusal: MessageRefusal = 'unreadable') {
    super(why);
    this.name = 'Unreadable';
    this.refusal = refusal;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether nothing but a URL was sent: its query is then the payload. */
export function isBodyless({ bytes }: Payload): boolean {
  return bytes.length === 0;
}

/** As JSON, whatever its content type says: who posts with curl often says it is a form. Throws Unreadable. */
export function parseJson(bytes: Buffer): unknown {
  const fault = checkJsonShape(bytes);
  if (fault !== null) throw new Unreadable(fault);
  try {
    return JSON.parse(textOfBytes(bytes)) as unknown;
  } catch {
    throw new Unreadable('The payload is not JSON.');
  }
}

/** The fields of a query or a form; of a duplicate name, the first. Own keys only, with any name. */
export function formFields(text: string): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) if (!fields.has(name)) fields.set(name, value);
  return Object.fromEntries(fields);
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** The fields of a flat payload: the query where there is no body, a form, or a JSON object. Throws Unreadable. */
export function flatFields(payload: Payload): Fields {
  if (isBodyless(payload)) return formFields(payload.query);
  try {
    return objectOf(parseJson(payload.bytes));
  } catch (error) {
    if (!FORM_TYPE.test(payload.contentType)) throw error;
    return formFields(payload.bytes.toString('utf8'));
  }
}

/** Throws Unreadable. */
export function objectOf(value: unknown): Fields {
  if (!isFields(value)) throw new Unreadable('The payload is not a JSON object.');
  return value;
}

/**
 * Makes an event of each alert in a list; a broken one becomes a problem and does not stop the others. Throws
 * Unreadable if all are broken.
 */
export function normaliseEach(alerts: readonly unknown[], toEvent: (alert: Fields) => NormalEvent): Normalised {
  if (alerts.length > ALERTS_MAX)
    throw new Unreadable(`The payload has ${alerts.length} alerts; expected at most ${ALERTS_MAX}.`, 'too_many_alerts');
  const events: NormalEvent[] = [];
  const problems: string[] = [];
  let left = KEPT_CHARACTERS_MAX;
  for (const [at, alert] of alerts.entries()) {
    try {
      if (!isFields(alert)) throw new Unreadable('It is not a JSON object.');
      const event = toEvent(alert);
      left -= charactersOf(event);
      if (left < 0)
        throw new Unreadable(`The alerts have more than ${KEPT_CHARACTERS_MAX} characters of text.`, 'too_large');
      events.push(event);
    } catch (error) {
      if (!(error instanceof Unreadable) || error.refusal !== 'unreadable') throw error;
      problems.push(`Alert ${at + 1} of ${alerts.length} cannot be read: ${error.message}`);
    }
  }
  if (events.length === 0) throw new Unreadable(problems[0] ?? 'The payload has no alert.');
  return { events, problems };
}

function charactersOf({ name, fingerprint, labels, annotations }: NormalEvent): number {
  let characters = name.length + fingerprint.length;
  for (const record of [labels, annotations])
    for (const key of Object.keys(record)) characters += key.length + (record[key]?.length ?? 0);
  return characters;
}

/** Of the one event of a payload. */
export function normalisedOne(event: NormalEvent): Normalised {
  return { events: [event], problems: [] };
}
