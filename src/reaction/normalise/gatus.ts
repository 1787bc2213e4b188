import { makeEvent, said, textOf } from './make-event.ts';
import {
  type Fields,
  flatFields,
  formFields,
  isFields,
  normalisedOne,
  type Normaliser,
  type Payload,
  Unreadable,
} from './payload.ts';
import { statusOf } from './status.ts';

/** The fields of the snippet in docs/how-to/receive-alerts.md, and its other placeholders. */
const KEYS = ['source', 'status', 'name', 'group', 'url', 'description', 'errors', 'conditions', 'severity'];
const KEY = new RegExp(`"(${KEYS.join('|')})"\\s*:\\s*"`, 'g');

/** Gatus' `custom` provider: the fields of its snippet, as JSON, in a query or in a form. */
export const gatus: Normaliser = (payload) => {
  const fields = fieldsOf(payload);
  const { status, name, group, url, description, errors, conditions } = fields;
  if (typeof name !== 'string' || name === '') throw new Unreadable('name: expected a non-empty text.');
  const known = statusOf(status);
  return normalisedOne(
    makeEvent({
      source: 'gatus',
      name,
      status: known,
      severity: fields['severity'],
      identity: [textOf(group) ?? '', name],
      labels: said({ group, url, ...(isFields(fields['labels']) ? fields['labels'] : {}) }),
      annotations: said({ description, errors, conditions, ...(known === null ? { status } : {}) }),
    }),
  );
};

function fieldsOf(payload: Payload): Fields {
  try {
    return flatFields(payload);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const text = payload.bytes.toString('utf8').trim();
    const fields = text.startsWith('{') ? brokenObject(text) : formFields(text);
    if (Object.keys(fields).length === 0 || !('name' in fields)) throw error;
    return fields;
  }
}

/**
 * Gatus inserts its values between the quotes of a template and escapes the quotes of only one of them, so a quote or a
 * line end in a description makes the JSON invalid. Then the text between the known keys is the value. Of a duplicate
 * key the first counts, because free text comes last.
 */
function brokenObject(text: string): Fields {
  const keys = [...text.matchAll(KEY)];
  const fields = new Map<string, string>();
  for (const [at, found] of keys.entries()) {
    const [whole, key = ''] = found;
    const next = keys[at + 1];
    const raw = text.slice(found.index + whole.length, next?.index);
    if (!fields.has(key)) fields.set(key, unescaped(withoutEnd(raw, next === undefined ? '}' : ',')));
  }
  return Object.fromEntries(fields);
}

/**
 * Without the quote that ends the value and what follows it: a comma before the next key, else the end of the object.
 */
function withoutEnd(raw: string, last: string): string {
  const text = raw.trimEnd();
  const value = (text.endsWith(last) ? text.slice(0, -1) : text).trimEnd();
  return value.endsWith('"') ? value.slice(0, -1) : value;
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value.replaceAll('\\"', '"');
  }
}
