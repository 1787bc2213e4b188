import { deeper, isObject, type JsonObject, type Leaf, leafText, memberOf } from './plan-json.ts';
import { fits, marksAny } from './plan-masks.ts';
import { CONTAINS_MIN_BYTES, type Hides } from './plan-secrets.ts';
import { SERVER_SET } from '../plan-words.ts';
import { REDACTED } from '../secrets/redaction.ts';

/** What the values of one resource may not show. */
export interface Hidden {
  readonly text: Hides;
  /** Numbers and bools, as text, that this resource masks: also hidden where it shows them again without the mask. */
  readonly leaves: ReadonlySet<string>;
}

/** What an attribute has of the three: its value and the masks of it. */
export interface MaskedValue {
  readonly value: unknown;
  readonly sensitive: unknown;
  readonly unknown: unknown;
}

/** Thrown and caught in this file: a mask has another shape than its value. */
class UnknownShape extends Error {}

const SECRET_JSON = JSON.stringify(REDACTED);
const SERVER_SET_JSON = JSON.stringify(SERVER_SET);

/**
 * One attribute as text: a string as it is, a list or map as compact JSON, nothing for null. A value that is not known
 * yet cannot be secret yet, so that mark is tested first. A mask of unknown shape hides the whole attribute.
 */
export function valueText(masked: MaskedValue, hidden: Hidden): string {
  const { value, sensitive, unknown } = masked;
  if (unknown === true) return SERVER_SET;
  if (isAbsent(value) && !marksAny(unknown)) return '';
  if (sensitive === true || !fits(value, sensitive)) return REDACTED;
  if (isLeaf(value)) {
    if (marksAny(unknown)) return SERVER_SET;
    return isHidden(value, hidden) ? REDACTED : leafText(value);
  }
  try {
    return json(masked, hidden, 0);
  } catch (error) {
    if (error instanceof UnknownShape) return REDACTED;
    throw error;
  }
}

function json(masked: MaskedValue, hidden: Hidden, depth: number): string {
  const { value, sensitive, unknown } = masked;
  if (unknown === true) return SERVER_SET_JSON;
  if (sensitive === true) return SECRET_JSON;
  if (!fits(value, sensitive)) throw new UnknownShape();
  if (isAbsent(value)) {
    if (!marksAny(unknown)) return 'null';
    return json({ ...masked, value: Array.isArray(unknown) ? [] : {} }, hidden, deeper(depth));
  }
  if (isLeaf(value)) return marksAny(unknown) ? SERVER_SET_JSON : leafJson(value, hidden);
  if (Array.isArray(value)) return listJson(value, masked, hidden, deeper(depth));
  return isObject(value) ? mapJson(value, masked, hidden, deeper(depth)) : SECRET_JSON;
}

type Masks = Pick<MaskedValue, 'sensitive' | 'unknown'>;

function listJson(value: readonly unknown[], { sensitive, unknown }: Masks, hidden: Hidden, depth: number): string {
  if (!Array.isArray(unknown) && marksAny(unknown)) return SERVER_SET_JSON;
  const [secretAt, unknownAt] = [sensitive, unknown].map((mask) => (Array.isArray(mask) ? (mask as unknown[]) : []));
  const parts: string[] = [];
  for (let i = 0; i < Math.max(value.length, unknownAt?.length ?? 0); i += 1) {
    parts.push(json({ value: value[i], sensitive: secretAt?.[i], unknown: unknownAt?.[i] }, hidden, depth));
  }
  return `[${parts.join(',')}]`;
}

function mapJson(value: JsonObject, { sensitive, unknown }: Masks, hidden: Hidden, depth: number): string {
  if (!isObject(unknown) && marksAny(unknown)) return SERVER_SET_JSON;
  let keys = Object.keys(value);
  // The value lacks members that are not known yet. Terraform sorts the members, so adding one requires a sort.
  const missing = isObject(unknown)
    ? Object.keys(unknown).filter((key) => !Object.hasOwn(value, key) && marksAny(unknown[key]))
    : [];
  if (missing.length > 0) keys = [...keys, ...missing].toSorted();
  const parts = keys.map((key) => {
    const shown = hidden.text(key) ? SECRET_JSON : JSON.stringify(key);
    const [member, secret, later] = [value, sensitive, unknown].map((each) => memberOf(each, key));
    return `${shown}:${json({ value: member, sensitive: secret, unknown: later }, hidden, depth)}`;
  });
  return `{${parts.join(',')}}`;
}

function leafJson(leaf: Leaf, hidden: Hidden): string {
  if (isHidden(leaf, hidden)) return SECRET_JSON;
  return typeof leaf === 'string' ? JSON.stringify(leaf) : leafText(leaf);
}

function isHidden(leaf: Leaf, hidden: Hidden): boolean {
  const text = leafText(leaf);
  if (typeof leaf === 'string') return hidden.text(text);
  if (hidden.leaves.has(text)) return true;
  return typeof leaf !== 'boolean' && text.length >= CONTAINS_MIN_BYTES && hidden.text(text);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isLeaf(value: unknown): value is Leaf {
  return !isAbsent(value) && !Array.isArray(value) && !isObject(value);
}
