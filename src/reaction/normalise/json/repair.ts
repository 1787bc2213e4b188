import { formFields, isBodyless, type Payload, Unreadable } from '../payload.ts';
import { REPAIRED_CHARACTERS_MAX, repairJson } from './repair-json.ts';
import { textOfBytes } from './text-of-bytes.ts';

/** Fields of forms and queries whose value is the JSON of the message. */
const FORM_FIELDS = ['payload', 'data', 'json', 'body'];
const OPENS = /^\s*[{[]/;

/**
 * A payload that its normaliser refused, as JSON, to be read once more; null where its JSON is valid, or where nothing
 * looks like JSON. Throws Unreadable with the place from which it cannot be read.
 */
export function repaired(payload: Payload): Payload | null {
  const text = isBodyless(payload) ? payload.query : textOfBytes(payload.bytes);
  if (text.length > REPAIRED_CHARACTERS_MAX) return null;
  const found = OPENS.test(text) ? text : (fieldOf(text) ?? innerOf(text));
  if (found === null) return null;
  const isWhole = isJson(found);
  if (isWhole && found === text) return null;
  const repair = isWhole ? { json: found } : repairJson(found);
  if ('stopsAt' in repair) throw new Unreadable(`The payload is not JSON: ${placeOf(found, repair.stopsAt)}.`);
  return { contentType: 'application/json', query: '', bytes: Buffer.from(repair.json) };
}

/** `payload={…}`, whatever its content type says. */
function fieldOf(text: string): string | null {
  if (!FORM_FIELDS.some((name) => text.startsWith(`${name}=`))) return null;
  const fields = formFields(text);
  const values = FORM_FIELDS.map((name) => fields[name]);
  return values.find((value): value is string => typeof value === 'string' && OPENS.test(value)) ?? null;
}

/** JSON whose only value is a text that is JSON. */
function innerOf(text: string): string | null {
  const inner: unknown = isJson(text) ? JSON.parse(text) : null;
  return typeof inner === 'string' && OPENS.test(inner) ? inner : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
