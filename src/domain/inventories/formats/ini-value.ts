import type { VarValue } from '../inventory.ts';
import { float, integer } from './numbers.ts';
import { refusedAt } from '../refused.ts';

/** Levels of lists and maps: the reader calls itself for each. */
const DEPTH_MAX = 30;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const CODE_ESCAPE = /(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;
const DIGITS = String.raw`\d(?:_?\d)*`;
const EXPONENT = `(?:[eE][-+]?${DIGITS})?`;
const NUMBER = new RegExp(
  String.raw`0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|` +
    String.raw`(?:${DIGITS})?\.${DIGITS}${EXPONENT}|${DIGITS}\.?${EXPONENT}`,
  'y',
);
const WORDS: ReadonlyMap<string, VarValue> = new Map<string, VarValue>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

/** The text is no literal of Python: then it is used unchanged. */
class NoLiteral extends Error {}
/** It is one that has no form in YAML. */
class NoData extends Error {}

/**
 * A value of an INI inventory as Ansible takes it: a literal of Python (a number, a quoted text, True, False, None, a
 * list, a tuple or a map of them) is that value, and everything else is a text.
 */
export function iniValue(text: string, line: number): VarValue {
  try {
    return new Literal(text).whole();
  } catch (thrown) {
    if (thrown instanceof NoLiteral) return text;
    if (thrown instanceof NoData)
      throw refusedAt(line, `the value is ${thrown.message} of Python, which is not accepted; quote it if it is text`);
    throw thrown;
  }
}

class Literal {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): VarValue {
    const first = this.#value(0);
    const items: VarValue[] = [first];
    let isTuple = false;
    while (this.#takes(',')) {
      isTuple = true;
      if (this.#isAtEnd()) break;
      items.push(this.#value(0));
    }
    if (!this.#isAtEnd()) throw new NoLiteral();
    return isTuple ? items : first;
  }

  #isAtEnd(): boolean {
    this.#blanks();
    return this.#at >= this.#text.length || this.#text[this.#at] === '#';
  }

  #blanks(): void {
    while (/[ \t\f]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #takes(character: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #matches(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #value(depth: number): VarValue {
    if (depth > DEPTH_MAX) throw new NoLiteral();
    this.#blanks();
    if (this.#takes('[')) return this.#items(']', depth).items;
    if (this.#takes('{')) return this.#map(depth);
    if (this.#takes('(')) {
      const { items, isTuple } = this.#items(')', depth);
      const [only] = items;
      return isTuple || only === undefined ? items : only;
    }
    if (/^[a-zA-Z]{0,2}["']/.test(this.#text.slice(this.#at, this.#at + 3))) return this.#strings();
    const word = this.#matches(/(?:True|False|None)(?!\w)/y);
    if (word !== null) return WORDS.get(word[0]) ?? null;
    if (this.#text.startsWith('...', this.#at)) throw new NoData('an ellipsis');
    if (this.#text.startsWith('set()', this.#at)) throw new NoData('a set');
    return this.#number();
  }

  #items(end: string, depth: number): { items: VarValue[]; isTuple: boolean } {
    const items: VarValue[] = [];
    let isTuple = false;
    while (!this.#takes(end)) {
      items.push(this.#value(depth + 1));
      if (this.#takes(',')) isTuple = true;
      else if (this.#takes(end)) break;
      else throw new NoLiteral();
    }
    return { items, isTuple };
  }

  #map(depth: number): VarValue {
    const map = new Map<string, VarValue>();
    while (!this.#takes('}')) {
      const key = this.#value(depth + 1);
      this.#blanks();
      if (!this.#takes(':')) throw /[,}]/.test(this.#text[this.#at] ?? '') ? new NoData('a set') : new NoLiteral();
      const value = this.#value(depth + 1);
      if (typeof key !== 'string') throw new NoData('a map with keys that are not texts');
      map.set(key, value);
      if (!this.#takes(',') && !/^\s*\}/.test(this.#text.slice(this.#at))) throw new NoLiteral();
    }
    return { fields: map };
  }

  #number(): VarValue {
    let sign = '';
    for (;;) {
      if (this.#takes('-')) sign = sign === '-' ? '' : '-';
      else if (!this.#takes('+')) break;
    }
    this.#blanks();
    const read = this.#matches(NUMBER)?.[0];
    if (read === undefined) throw new NoLiteral();
    if (/^[jJ]/.test(this.#text.slice(this.#at))) throw new NoData('a complex number');
    if (/^[\w.]/.test(this.#text.slice(this.#at))) throw new NoLiteral();
    const digits = read.replaceAll('_', '');
    if (/^0[xXoObB]/.test(digits)) return integer(sign, digits.toLowerCase());
    if (!/^\d+$/.test(digits)) return float(Number(`${sign}${digits}`)) ?? noFloat();
    if (/^0+[1-9]/.test(digits)) throw new NoLiteral();
    return integer(sign, digits);
  }

  /** Literals that follow each other are one text. */
  #strings(): VarValue {
    let text = '';
    do {
      text += this.#string();
      this.#blanks();
    } while (/^[a-zA-Z]{0,2}["']/.test(this.#text.slice(this.#at, this.#at + 3)));
    return text;
  }

  #string(): string {
    const prefix = (this.#matches(/[a-zA-Z]{0,2}/y)?.[0] ?? '').toLowerCase();
    if (['b', 'br', 'rb'].includes(prefix)) throw new NoData('a list of bytes');
    if (!['', 'r', 'u'].includes(prefix)) throw new NoLiteral();
    const quote = this.#matches(/"""|'''|"|'/y)?.[0] ?? '';
    let text = '';
    for (;;) {
      if (this.#at >= this.#text.length) throw new NoLiteral();
      if (this.#text.startsWith(quote, this.#at)) break;
      const character = this.#text[this.#at] ?? '';
      this.#at += 1;
      if (character !== '\\') text += character;
      else if (prefix === 'r') {
        text += `\\${this.#text[this.#at] ?? ''}`;
        this.#at += 1;
      } else text += this.#escape();
    }
    this.#at += quote.length;
    return text;
  }

  #escape(): string {
    const code = this.#matches(CODE_ESCAPE);
    if (code !== null) {
      const [, octal, ...hex] = code;
      const point =
        octal === undefined
          ? Number.parseInt(hex.find((each) => each !== undefined) ?? '', 16)
          : Number.parseInt(octal, 8);
      if (point > 0x10_ffff) throw new NoLiteral();
      return String.fromCodePoint(point);
    }
    const character = this.#text[this.#at] ?? '';
    if (character === 'N') throw new NoData('a text with a named character');
    // Python refuses these; others stand for themselves, with the backslash.
    if (/[xuU]/.test(character)) throw new NoLiteral();
    this.#at += 1;
    return SIMPLE_ESCAPES[character] ?? `\\${character}`;
  }
}

function noFloat(): never {
  throw new NoData('a number without bounds');
}
