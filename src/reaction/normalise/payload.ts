import type { NormalEvent } from '../../domain/event.ts';

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

/** Alerts of one payload that become events: one of 1 MiB could hold a hundred thousand empty ones. */
export const ALERTS_MAX = 1_000;

/** A payload of which nothing can be read. The message is a sentence that names the field and no value. */
export class Unreadable extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'Unreadable';
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
  try {
    // A byte order mark in front, as some write it, says nothing.
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) as unknown;
  } catch {
    throw new Unreadable('The payload is not JSON.');
  }
}

/** The fields of a query or of a form; of a name that is given twice, the first. Own keys only, whatever they are called. */
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
  if (!isFields(value)) throw new Unreadable('The payload is no JSON object.');
  return value;
}

/** Makes an event of each of a list; one that is broken becomes a problem and does not keep the others back. Throws Unreadable where all are. */
export function normaliseEach(alerts: readonly unknown[], toEvent: (alert: Fields) => NormalEvent): Normalised {
  const events: NormalEvent[] = [];
  const problems: string[] = [];
  for (const [at, alert] of alerts.slice(0, ALERTS_MAX).entries()) {
    try {
      if (!isFields(alert)) throw new Unreadable('It is no JSON object.');
      events.push(toEvent(alert));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      problems.push(`Alert ${at + 1} of ${alerts.length} can not be read: ${error.message}`);
    }
  }
  if (events.length === 0) throw new Unreadable(problems[0] ?? 'The payload has no alert in it.');
  if (alerts.length > ALERTS_MAX) {
    problems.push(`The payload has ${alerts.length} alerts: the first ${ALERTS_MAX} were taken, the others were left out.`);
  }
  return { events, problems };
}

/** Of the one event of a payload. */
export function normalisedOne(event: NormalEvent): Normalised {
  return { events: [event], problems: [] };
}
