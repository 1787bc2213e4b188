import { isObject, type JsonObject, malformed, memberOf, sameValue } from './plan-json.ts';
import { marksAny, maskOf } from './plan-masks.ts';
import type { Hides } from './plan-secrets.ts';
import { type Hidden, type MaskedValue, valueText } from './plan-values.ts';
import { REDACTED } from '../secrets/redaction.ts';

/** One line of an entry; the keys in the order of the view. */
export interface Attribute {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const NOTHING_HIDDEN: Hidden = { text: () => false, leaves: new Set() };

/**
 * The attributes of a planned change that differ, sorted by name. A value that is not known yet differs; so does one
 * that becomes or stops being sensitive. Null on both sides is left out, so a created or destroyed resource has only
 * attributes with a value.
 */
export function attributesOf(change: JsonObject, hidden: Hidden): readonly Attribute[] {
  const [before, after] = [sideOf(change['before'], 'before'), sideOf(change['after'], 'after')];
  const unknown = change['after_unknown'] ?? false;
  const names = new Set([
    ...Object.keys(before ?? {}),
    ...Object.keys(after ?? {}),
    ...(isObject(unknown) ? Object.keys(unknown) : []),
  ]);
  const attributes: Attribute[] = [];
  for (const name of [...names].toSorted()) {
    const was: MaskedValue = {
      value: memberOf(before, name),
      sensitive: before === null ? false : maskOf(change['before_sensitive'], name),
      unknown: false,
    };
    const becomes: MaskedValue = {
      value: memberOf(after, name),
      sensitive: after === null ? false : maskOf(change['after_sensitive'], name),
      unknown: maskOf(unknown, name),
    };
    if (differ(was, becomes))
      attributes.push({ name, before: valueText(was, hidden), after: valueText(becomes, hidden) });
  }
  return attributes;
}

function differ(was: MaskedValue, becomes: MaskedValue): boolean {
  if (marksAny(becomes.unknown) || !sameValue(was.value, becomes.value)) return true;
  if (sameValue(was.sensitive, becomes.sensitive)) return false;
  return valueText(was, NOTHING_HIDDEN) !== valueText(becomes, NOTHING_HIDDEN);
}

function sideOf(value: unknown, side: string): JsonObject | null {
  if (value === null || value === undefined) return null;
  if (!isObject(value)) throw malformed(`the ${side} of a change is not an object`);
  return value;
}

/** The keys of `for_each` in an address, of the resource or of a module around it. */
const KEYS = /\["((?:[^"\\]|\\.)*)"\]/g;

/** An address with its secret keys hidden; the configuration holds everything else of it. */
export function shownAddress(address: string, hides: Hides): string {
  return address.replace(KEYS, (whole, inside: string) =>
    hides(inside) || hides(unquoted(inside)) ? `["${REDACTED}"]` : whole,
  );
}

/** As HCL quotes: like JSON, and a template's start is doubled. */
function unquoted(inside: string): string {
  const text = inside.replaceAll('$${', '${').replaceAll('%%{', '%{');
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
