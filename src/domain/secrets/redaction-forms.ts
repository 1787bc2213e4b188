import { isUtf8 } from 'node:buffer';

/**
 * The forms in which a tool may print a secret value. A form is bytes to search for. Limits: base64 with other bytes
 * around the value hides the characters that hold only bits of the value, so at most 4 bits of its first and of its
 * last byte remain (of base64 twice: the first and the last byte). A value that a tool reverses, encrypts or colours
 * within is not recognised, nor are hex digits in groups.
 */

/** A shorter encoding would match by chance, in a commit id or a time. The value itself is always a form. */
const SHORT_BYTES = 6;
/**
 * Longer values are keys and not words, and their rare forms are left out: each byte of a form costs 36 bytes of memory
 * and 0.3 us at start. A PEM key of 3 KB with every form took 70 ms and 6 MB, without the rare forms 17 ms and 4 MB.
 */
const EVERY_FORM_UP_TO_BYTES = 512;
/** Of a longer value only so much is looked for, so that one value never holds up the daemon for more than 0.2 s. */
export const LONGEST_VALUE_BYTES = 32 * 1024;

/** A shorter end of a folded text is left: it holds some bytes of the value, and would be met by chance. */
const FOLDED_LINE_CHARACTERS = 12;
/** Widths at which coreutils' base64 (76), PEM (64) and xxd (60) break their lines. */
const COREUTILS_WIDTH = 76;
const BASE64_WIDTHS = [64, COREUTILS_WIDTH];
const HEX_WIDTHS = [60];

const ALWAYS_PLAIN = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
/** The characters that encoders keep: RFC 3986 and encodeURIComponent; forms, quote of Python, encodeURI, none. */
const URL_PLAIN = ['~', "~!*'()"].map(plainBytes);
const URL_PLAIN_RARE = ['*', '~/', "~!*'();/?:@&=+$,#", ''].map(plainBytes);

/** Each form once, the value first. Line ends around the value do not count: `echo` adds and `$(…)` removes one. */
export function secretForms(value: Buffer): Buffer[] {
  const bytes = withoutLineEnds(value).subarray(0, LONGEST_VALUE_BYTES);
  if (bytes.length === 0) return [];
  const forms = new Set<string>([latin1(bytes)]);
  const encoded = [
    ...base64Forms(bytes),
    ...hexForms(bytes),
    ...jsonForms(bytes),
    ...lineForms(bytes),
    ...urlForms(bytes),
  ];
  if (bytes.length <= EVERY_FORM_UP_TO_BYTES)
    encoded.push(
      ...rareUrlForms(bytes),
      ...rareJsonForms(bytes),
      shellForm(bytes),
      ...utf16Forms(bytes),
      ...base64Twice(bytes),
      ...base64OfJson(bytes),
    );
  for (const form of encoded) if (form.length >= SHORT_BYTES) forms.add(form);
  return [...forms].map((form) => Buffer.from(form, 'latin1'));
}

export function withoutLineEnds(value: Buffer): Buffer {
  let [start, end] = [0, value.length];
  while (start < end && isLineEnd(value[start])) start += 1;
  while (end > start && isLineEnd(value[end - 1])) end -= 1;
  return value.subarray(start, end);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64');
  const forms = [whole, whole.replace(/=+$/, '')];
  for (const offset of [0, 1, 2]) forms.push(base64Within(bytes, offset));
  const url = forms.map(forUrls);
  const folded = [whole, forms[2] ?? whole].flatMap((form) => BASE64_WIDTHS.flatMap((width) => foldedAt(form, width)));
  return [...forms, ...url, ...folded];
}

/** Encodes with `offset` bytes before the value; returns the characters that hold only bits of the value. */
function base64Within(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function forUrls(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/**
 * Base64 of the base64, each with or without other bytes around it. Nine texts hold the characters that only bits of
 * the value make. The URL alphabet needs no more, because base64 of base64 has none of the characters in which it
 * differs.
 */
function base64Twice(bytes: Buffer): string[] {
  const inner = [0, 1, 2].map((offset) => Buffer.from(base64Within(bytes, offset)));
  const twice = inner.flatMap((form) => [0, 1, 2].map((offset) => base64Within(form, offset)));
  // After other bytes the places of the line ends are unknown.
  return [...twice, ...foldedAt(twice[0] ?? '', COREUTILS_WIDTH)];
}

/**
 * UTF-16 as Windows stores and prints text, in both byte orders: the outer NUL is not part of the form. Also its
 * base64, as PowerShell accepts it.
 */
function utf16Forms(bytes: Buffer): string[] {
  if (!isUtf8(bytes)) return [];
  const little = Buffer.from(bytes.toString(), 'utf16le');
  const big = Buffer.from(little).swap16();
  const encoded = [0, 1, 2].map((offset) => base64Within(little, offset));
  return [
    ...[little, big].map((form) => latin1(form).replace(/^\0+|\0+$/g, '')),
    ...encoded,
    ...foldedAt(encoded[0] ?? '', COREUTILS_WIDTH),
  ];
}

function hexForms(bytes: Buffer): string[] {
  const lower = bytes.toString('hex');
  const folded = HEX_WIDTHS.flatMap((width) => foldedAt(lower, width));
  return [lower, lower.toUpperCase(), ...folded];
}

/** Whole, and line by line: a tool that starts others, such as terraform, prefixes each of their lines. */
function foldedAt(form: string, width: number): string[] {
  if (form.length <= width) return [];
  const lines = form.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [lines.join('\n'), lines.join('\r\n'), ...lines.filter((line) => line.length >= FOLDED_LINE_CHARACTERS)];
}

function plainBytes(more: string): ReadonlySet<number> {
  return new Set(Buffer.from(ALWAYS_PLAIN + more));
}

function urlForms(bytes: Buffer): string[] {
  return URL_PLAIN.map((plain) => percentEncoded(bytes, plain));
}

function rareUrlForms(bytes: Buffer): string[] {
  const upper = [...URL_PLAIN, ...URL_PLAIN_RARE].map((plain) => percentEncoded(bytes, plain));
  const every = Array.from(bytes, percent).join('');
  const both = [...upper, every].flatMap((form) => [form, form.replace(/%../g, (escape) => escape.toLowerCase())]);
  return [...both, ...both.map((form) => form.replaceAll('%20', '+'))];
}

function percentEncoded(bytes: Buffer, plain: ReadonlySet<number>): string {
  return Array.from(bytes, (byte) => (plain.has(byte) ? String.fromCharCode(byte) : percent(byte))).join('');
}

function percent(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
}

/** As JavaScript writes it, and that as a part of a JSON text within a JSON text. */
function jsonForms(bytes: Buffer): string[] {
  if (!isUtf8(bytes)) return [];
  const json = insideQuotes(bytes.toString());
  return [json, insideQuotes(json)].map(utf8AsLatin1);
}

/** What Go escapes in JSON. */
const HTML_SIGNS = /[<>&\u2028\u2029]/g;

/** As Go and others escape it for HTML, Python in ASCII, PHP with its slashes, .NET; and each as JSON within JSON. */
function rareJsonForms(bytes: Buffer): string[] {
  if (!isUtf8(bytes)) return [];
  const json = insideQuotes(bytes.toString());
  const html = json.replace(HTML_SIGNS, unicodeEscape);
  const ascii = json.replace(/[^\x20-\x7e]/g, unicodeEscape);
  const net = json.replaceAll('\\"', '"').replace(/[<>&'"+`\u007f-\uffff]/g, unicodeEscape);
  const once = [html, ascii, json.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/'), net].flatMap((form) => [
    form,
    inUpperCase(form),
  ]);
  return [...once, ...once.map(insideQuotes)].map(utf8AsLatin1);
}

/**
 * As a part of a JSON text that is encoded whole, such as the login of a registry of containers: as JavaScript and as
 * Go escape it.
 */
function base64OfJson(bytes: Buffer): string[] {
  if (!isUtf8(bytes)) return [];
  const value = bytes.toString();
  const json = insideQuotes(value);
  const texts = new Set([json, json.replace(HTML_SIGNS, unicodeEscape)]);
  texts.delete(value);
  return [...texts].flatMap((text) => [0, 1, 2].map((offset) => base64Within(Buffer.from(text), offset)));
}

function inUpperCase(form: string): string {
  return form.replace(/\\u(....)/g, (_, digits: string) => `\\u${digits.toUpperCase()}`);
}

function insideQuotes(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** As `set -x` prints it: in single quotes. */
function shellForm(bytes: Buffer): string {
  return latin1(bytes).replaceAll("'", "'\\''");
}

/** A value of several lines, such as a key, is also printed line by line, indented. */
function lineForms(bytes: Buffer): string[] {
  const lines = latin1(bytes).split(/[\r\n]+/);
  return lines.length > 1 ? lines.map((line) => line.trim()) : [];
}

function utf8AsLatin1(text: string): string {
  return latin1(Buffer.from(text));
}

/** One character per byte, so that a form of any bytes is a string that a set keeps once. */
function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}
