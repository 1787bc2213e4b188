/** Values of a plan as terraform prints it in JSON, and careful ways to look into them. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** A number that a double can't hold, as it is written: an account number of 20 digits must not be shown rounded. */
export class ExactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** What isn't a list or a map; null is nothing to hide and is not among them. */
export type Leaf = string | number | boolean | ExactNumber;

/** Deeper than any resource is, and far from the end of the stack. */
const DEPTH_MAX = 200;

/**
 * From 16 digits on a double may round. Terraform writes no exponents and no spaces. Parsing with a reviver takes three
 * times as long, so it is used only for a plan with such a number (or a string that looks like one).
 */
const LONG_NUMBER = /[:,[]-?[\d.]{16}/;

/** Parses the output of `terraform show -json`. Throws an Error that, unlike the parser's own, quotes nothing of it. */
export function parsePlan(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    throw new Error('The plan could not be read: it is not valid JSON.');
  }
}

/**
 * The list or map that a JSON text stands for, with each number as it is written; undefined for any other text. Throws
 * where it is nested too deep for the parser.
 */
export function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text, exactly);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw malformed('a JSON text in it is nested too deep');
  }
}

function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : new ExactNumber(context.source);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The object's own member, never an inherited one: a map of a plan may have a key `constructor`. */
export function memberOf(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The elements of an optional list. Throws if it is not a list; `what` names it. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw malformed(`${what} is not a list`);
  return value;
}

/** The members of an optional map. Throws if it is not an object; `what` names it. */
export function entriesOf(value: unknown, what: string): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) throw malformed(`${what} is not an object`);
  return Object.entries(value);
}

/** `problem` names a place in the plan, never a value. */
export function malformed(problem: string): Error {
  return new Error(`The plan could not be read: ${problem}.`);
}

/** Called at each level of nesting, so that a hostile plan ends in a message and not in a stack overflow. */
export function deeper(depth: number): number {
  if (depth >= DEPTH_MAX) throw malformed(`a value is nested deeper than ${DEPTH_MAX} levels`);
  return depth + 1;
}

/** Whether two values say the same. What is left out and null are the same, as they are to terraform. */
export function sameValue(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((element, i) => sameValue(element, b[i], deeper(depth)))
    );
  }
  if (a instanceof ExactNumber) return b instanceof ExactNumber && a.source === b.source;
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key], deeper(depth)));
}

/** As which texts a leaf may be printed: terraform prints a number of a JSON text as written, any other in decimals. */
export function leafTexts(leaf: Leaf): ReadonlySet<string> {
  const text = leafText(leaf);
  return new Set(typeof leaf === 'string' || typeof leaf === 'boolean' ? [text] : [text, inDecimals(text)]);
}

/** Places before the point: beyond those of a double, a short exponent would make a text of any length. */
const DECIMALS_MAX = 400;

function inDecimals(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const point = whole.length + Number(exponent);
  if (whole === '' || Math.abs(point) > DECIMALS_MAX) return source;
  const digits = `${whole}${fraction}`;
  const text =
    point > 0
      ? `${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point)}`
      : `0.${'0'.repeat(-point)}${digits}`;
  return sign + text.replace(/^0+(?=\d)/, '').replace(/\.?0*$/, '');
}

/** How a number or a bool is shown, and a string as it is. */
export function leafText(leaf: Leaf): string {
  return leaf instanceof ExactNumber ? leaf.source : String(leaf);
}
