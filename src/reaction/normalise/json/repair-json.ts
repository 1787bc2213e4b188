/** Levels of nesting, the same limit as without repairs. */
const DEPTH_MAX = 100;
/** Characters of a key, and of blanks, that are looked at to find out whether a quote ends its text. */
const AHEAD_MAX = 256;
/** Quotes that are taken as parts of texts: each costs a look ahead. More than one template makes. */
const QUOTES_MAX = 1_000;
/** Longer texts are not repaired: templates make short ones, and this one takes up to 2 s. */
export const REPAIRED_CHARACTERS_MAX = 1_048_576;

const BLANKS = /\s*/y;
const KEY_AHEAD = new RegExp(`(["'])(?:(?!\\1)[^\\\\\\n]|\\\\.){1,${AHEAD_MAX}}\\1\\s{0,${AHEAD_MAX}}:`, 'y');
const BARE_KEY = new RegExp(`[A-Za-z_$][\\w$.-]{0,${AHEAD_MAX}}`, 'y');
const BARE_KEY_AHEAD = new RegExp(`${BARE_KEY.source}\\s{0,${AHEAD_MAX}}:`, 'y');
const BARE_VALUE = /[^,{}[\]"'\n\r]+/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The first sign of a member of a list. */
const ITEM = /["'{[\w-]/;
/** Of a text, what is taken as it is. */
const PLAIN = /[^"'\\\p{Cc}]+/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What templates and other languages write for values that JSON writes in another way, or not at all. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['nil', 'null'],
  ['undefined', 'null'],
  ['NaN', 'null'],
  ['Infinity', 'null'],
  ['-Infinity', 'null'],
]);

/** A text cannot be read from this index on. */
class Stop extends Error {
  readonly at: number;

  constructor(at: number) {
    super('not readable');
    this.at = at;
  }
}

/**
 * JSON of a text that was meant to be JSON: the output of a template that did not escape its values, or a literal of
 * Python or JavaScript. A quote or a line break inside a text is a part of it, a comma too many or too few is repaired,
 * what JSON has no value for is null, and a value without quotes is a text. A text that ends in the middle is refused:
 * what is missing may decide. Answers the index from which it cannot be read. One pass that looks AHEAD_MAX ahead.
 */
export function repairJson(text: string): { readonly json: string } | { readonly stopsAt: number } {
  try {
    return { json: new Repair(text).whole() };
  } catch (error) {
    if (error instanceof Stop) return { stopsAt: error.at };
    throw error;
  }
}

type Place = 'key' | 'field' | 'item';

class Repair {
  readonly #text: string;
  readonly #out: string[] = [];
  #at = 0;
  #quotes = 0;

  constructor(text: string) {
    // No expression: one that looks for the end of each run of blanks takes the square of their number.
    let end = text.length;
    while (end > 0 && /[\s\0]/.test(text[end - 1] ?? '')) end -= 1;
    this.#text = text.slice(0, end);
  }

  whole(): string {
    this.#skip(BLANKS);
    this.#value('item', 0);
    this.#skip(BLANKS);
    if (this.#at < this.#text.length) this.#stop();
    return this.#out.join('');
  }

  #value(place: Exclude<Place, 'key'>, depth: number): void {
    const next = this.#text[this.#at];
    if (depth > DEPTH_MAX) this.#stop();
    if (next === '{') this.#members('}', () => this.#field(depth));
    else if (next === '[') this.#members(']', () => this.#value('item', depth + 1));
    else if (next === '"' || next === "'") this.#string(next, place);
    // A value that the template left empty.
    else if (place === 'field' && (next === ',' || next === '}')) this.#out.push('null');
    else this.#bare(place);
  }

  /** The members of an object or list up to its end; commas may be missing between them, or be too many. */
  #members(end: string, member: () => void): void {
    this.#out.push(this.#text[this.#at] ?? '');
    this.#at += 1;
    for (let count = 0; ;) {
      this.#skip(BLANKS);
      const next = this.#text[this.#at];
      if (next === undefined) this.#stop();
      if (next === end) break;
      if (next === ',') {
        this.#at += 1;
        continue;
      }
      if (count > 0) this.#out.push(',');
      member();
      count += 1;
    }
    this.#at += 1;
    this.#out.push(end);
  }

  #field(depth: number): void {
    const quote = this.#text[this.#at];
    if (quote === '"' || quote === "'") this.#string(quote, 'key');
    else this.#out.push(JSON.stringify(this.#skip(BARE_KEY) ?? this.#stop()));
    this.#skip(BLANKS);
    if (this.#text[this.#at] !== ':') this.#stop();
    this.#at += 1;
    this.#skip(BLANKS);
    this.#out.push(':');
    this.#value('field', depth + 1);
  }

  /** A number, a word, or a text without quotes up to the next sign of JSON. */
  #bare(place: Exclude<Place, 'key'>): void {
    const start = this.#at;
    const word = this.#skip(BARE_VALUE)?.trim() ?? '';
    const next = this.#text[this.#at];
    const ends = next !== undefined && (!['{', '[', '"', "'"].includes(next) || this.#endsAt(this.#at, place));
    if (word === '' || !ends) this.#stop(start);
    const isJson = NUMBER.test(word) || ['true', 'false', 'null'].includes(word);
    this.#out.push(isJson ? word : (WORDS.get(word) ?? JSON.stringify(word)));
  }

  /** A quote that no sign of JSON follows is a part of the text. */
  #string(quote: '"' | "'", place: Place): void {
    const start = this.#at;
    this.#out.push('"');
    this.#at += 1;
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined) this.#stop(start);
      if (next === quote && this.#endsAt(this.#at + 1, place)) break;
      if (next === quote && (this.#quotes += 1) > QUOTES_MAX) this.#stop();
      this.#out.push(this.#piece(next));
    }
    this.#at += 1;
    this.#out.push('"');
  }

  /** The next part of a text, as JSON writes it. */
  #piece(next: string): string {
    const plain = this.#skip(PLAIN);
    if (plain !== null) return plain;
    if (next === '\\') {
      const escape = this.#skip(ESCAPE);
      if (escape !== null) return escape;
      this.#at += 1;
      if (this.#text[this.#at] !== "'") return '\\\\';
      this.#at += 1;
      return "'";
    }
    this.#at += 1;
    if (next === '"') return '\\"';
    return next < ' ' ? JSON.stringify(next).slice(1, -1) : next;
  }

  #endsAt(after: number, place: Place): boolean {
    const at = this.#blanksEnd(after);
    const next = this.#text[at];
    if (place === 'key') return next === ':';
    const close = place === 'field' ? '}' : ']';
    const following = this.#blanksEnd(at + 1);
    const sign = this.#text[following];
    if (next === close) return sign === undefined || [',', '}', ']'].includes(sign);
    if (next === ',') return sign === close || (place === 'field' ? this.#isKey(following) : ITEM.test(sign ?? ''));
    return place === 'field' && /\s/.test(this.#text[at - 1] ?? '') && this.#isKey(at);
  }

  #isKey(at: number): boolean {
    return matches(KEY_AHEAD, this.#text, at) || matches(BARE_KEY_AHEAD, this.#text, at);
  }

  #blanksEnd(from: number): number {
    let at = from;
    while (at < from + AHEAD_MAX && /\s/.test(this.#text[at] ?? '')) at += 1;
    return at;
  }

  #skip(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  #stop(at = this.#at): never {
    throw new Stop(at);
  }
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
