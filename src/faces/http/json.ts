import { isUtf8 } from 'node:buffer';
import { Failure } from '../../domain/failure.ts';

/** Deeper than any valid input, and shallow enough for recursive code. */
const JSON_DEPTH_MAX = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b];
const CLOSE = [0x5d, 0x7d];
const OPEN_OBJECT = 0x7b;

function refuse(why: string): never {
  throw new Failure('invalid_argument', `The body: ${why}.`);
}

/**
 * Parses the body of a request: a JSON object in UTF-8. Input that JSON.parse accepts but two parsers may interpret
 * differently is refused: duplicate keys, `__proto__`, and depth beyond 32. Throws invalid_argument.
 */
export function parseBody(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) refuse('expected UTF-8');
  const text = bytes.toString('utf8');
  inspect(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuse('expected JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('expected a JSON object');
  return value as Record<string, unknown>;
}

/** Scans the tokens once, before anything is built. Invalid JSON passes here and fails in JSON.parse. */
function inspect(text: string): void {
  // For each open bracket the keys seen so far; null for an array.
  const open: (Set<string> | null)[] = [];
  let keyComes = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = stringEnd(text, i);
      if (keyComes) takeKey(open.at(-1) ?? null, text.slice(i, end + 1));
      keyComes = false;
      i = end;
    } else if (OPEN.includes(code)) {
      if (open.length === JSON_DEPTH_MAX) refuse(`expected at most ${JSON_DEPTH_MAX} levels of nesting`);
      open.push(code === OPEN_OBJECT ? new Set() : null);
      keyComes = code === OPEN_OBJECT;
    } else if (CLOSE.includes(code)) {
      open.pop();
      keyComes = false;
    } else if (code === COMMA) {
      keyComes = (open.at(-1) ?? null) !== null;
    } else if (code === COLON) {
      keyComes = false;
    }
  }
}

/** The index of the quote that ends the string which begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i += 1;
  }
  return text.length;
}

function takeKey(seen: Set<string> | null, quoted: string): void {
  if (seen === null) return;
  const key = unquote(quoted);
  if (key === '__proto__') refuse('the key "__proto__" is not allowed');
  if (seen.has(key)) refuse(`the key ${JSON.stringify(key.slice(0, 80))} was given more than once`);
  seen.add(key);
}

function unquote(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return refuse('expected JSON');
  }
}
