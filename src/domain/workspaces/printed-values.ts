import { jsonOf, leafTexts, malformed } from './plan-json.ts';
import { eachLeaf } from './plan-masks.ts';
import { CONTAINS_MIN_BYTES } from './plan-secrets.ts';
import { secretForms } from '../secrets/redaction-forms.ts';

/** How terraform prints the values of a plan as text: what is looked for in a log, to hide what the view hides. */

/** A shorter line of a longer value would be met by chance, as in redaction-forms.ts. */
const LINE_BYTES_MIN = 6;
/** Most bytes of all forms: making the search of this many takes a busy core 0.5 s, in pieces, and 18 MB. */
const PRINTED_BYTES_MAX = 512 * 1024;
/** Beyond this, longer values are looked for only as terraform prints them, and not in base64 and similar forms. */
const EVERY_FORM_BYTES = 64 * 1024;
/** JSON in a string of JSON, and so on: terraform prints each as an expression. A deeper one has no masks. */
const JSON_DEPTH_MAX = 8;
/**
 * Where a line is also looked for in pieces: terraform wraps at blanks outside ASCII too, and escapes characters that
 * are newer than it, nearly all of them above U+FFFF.
 */
const UNSURE = /[\u0085\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u{10000}-\u{10ffff}]+/u;
/** What terraform itself prints in each diff: only a string that equals one is hidden. */
const OWN_WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/**
 * The bytes to look for, each once; null where they are too many, or a JSON text is nested too deep. `texts` are the
 * values that a plan masks. A string of several lines is printed line by line, one that is JSON as an expression with
 * its parts, every other one in quotes. One of fewer than 4 bytes is looked for with its quotes only, because it is a
 * part of nearly every line.
 */
export function printedForms(texts: Iterable<string>): Buffer[] | null {
  const forms = new Map<string, Buffer>();
  let size = 0;
  const add = (form: Buffer): void => {
    const key = form.toString('latin1');
    if (forms.has(key)) return;
    forms.set(key, form);
    size += form.length;
  };
  const values = [...texts].toSorted((a, b) => a.length - b.length);
  for (const text of values) {
    if (text.length > PRINTED_BYTES_MAX) return null;
    const printed = formsOf(text);
    if (printed === null) return null;
    for (const form of printed) add(Buffer.from(form));
    if (size > PRINTED_BYTES_MAX) return null;
  }
  for (const text of values) {
    if (size > EVERY_FORM_BYTES) break;
    const value = Buffer.from(text);
    if (value.length >= CONTAINS_MIN_BYTES) secretForms(value).slice(1).forEach(add);
  }
  return [...forms.values()];
}

/** Null where a JSON text in it is nested deeper than is looked into. */
function formsOf(text: string): string[] | null {
  const lines = linesOf(text);
  const [line = ''] = lines;
  let parts: string[];
  try {
    parts = partsOf(text, 0);
  } catch {
    return null;
  }
  if (lines.length === 1 && isShort(line)) return [...parts, `"${goQuoted(text)}"`];
  parts.push(...printedLines(lines));
  return parts.flatMap((part) => [part, goQuoted(part), hclQuoted(part)]);
}

function linesOf(text: string): string[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

function longLines(lines: readonly string[]): string[] {
  return lines.filter((line) => Buffer.byteLength(line) >= LINE_BYTES_MIN);
}

/** Of one line or several, what is looked for outside of quotes. */
function printedLines(lines: readonly string[]): string[] {
  const pieces = lines.filter((line) => UNSURE.test(line)).flatMap((line) => linesOf(line.split(UNSURE).join('\n')));
  return [...(lines.length > 1 ? longLines(lines) : lines.filter((line) => !isShort(line))), ...longLines(pieces)];
}

function isShort(line: string): boolean {
  return Buffer.byteLength(line) < CONTAINS_MIN_BYTES || OWN_WORDS.has(line);
}

/** The values in a string that is JSON, each in its lines. Throws where they are nested too deep. */
function partsOf(text: string, depth: number): string[] {
  const value = jsonOf(text);
  if (value === undefined) return [];
  if (depth >= JSON_DEPTH_MAX) throw malformed(`a JSON text is in more than ${JSON_DEPTH_MAX} others`);
  const parts: string[] = [];
  eachLeaf(value, (leaf) => {
    if (typeof leaf === 'boolean') return;
    for (const printed of leafTexts(leaf)) parts.push(...printedLines(linesOf(printed)));
    if (typeof leaf === 'string') parts.push(...partsOf(leaf, depth + 1));
  });
  return parts;
}

/** As Go's %q writes it, between the quotes. */
function goQuoted(text: string): string {
  return text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const known = GO_ESCAPES.get(character);
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    if (code < 0x80) return `\\x${digits.padStart(2, '0')}`;
    return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
}

const GO_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** As a key of a map and an index of an address have it: like JSON, and a template's start is doubled. */
function hclQuoted(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[$%](?=\{)/g, '$&$&');
}
