import type { VarValue } from '../inventory.ts';
import { float, integer } from './numbers.ts';
import { quoted, refusedAt } from '../refused.ts';

const DIGITS = String.raw`\d(?:_?\d)*`;
const EXPONENT = `(?:[eE][-+]?${DIGITS})?`;
const BASED = /^0[xX](?:_?[0-9a-fA-F])+$|^0[oO](?:_?[0-7])+$|^0[bB](?:_?[01])+$/;
const WHOLE = new RegExp(`^${DIGITS}$`);
const REAL = new RegExp(String.raw`^(?:(?:${DIGITS})?\.${DIGITS}|${DIGITS}\.?)${EXPONENT}$`);
const WORDS: ReadonlyMap<string, VarValue> = new Map<string, VarValue>([
  ['True', true],
  ['False', false],
  ['None', null],
]);
/** A text between quotes that needs no rule of Python to be read. */
const QUOTED = /^(?:"(?<double>[^"\\]*)"|'(?<single>[^'\\]*)')\s*(?:#.*)?$/;
/** The first thing in a list, tuple or map of Python. Not the start of a template. */
const NESTED = /^(?!\{\{)[[({]\s*(?:["'\d[({\])}.+-]|(?:True|False|None)\b|[a-zA-Z]{1,2}["'])/;
/** What else Python may read as one value: other texts between quotes, a complex number, an ellipsis, a set. */
const OTHER = /^[a-zA-Z]{0,2}(["']).*\1$|^[-+\d._eE\s]*\d[jJ]$|^\.\.\.$|^set\(\)$/;

/**
 * A value of an INI inventory: a number, a text in quotes, True, False and None are what Ansible takes them for, and
 * everything else is a text. Lists, maps and other values of Python are refused: the same inventory in YAML has them.
 */
export function iniValue(text: string, line: number): VarValue {
  const string = QUOTED.exec(text)?.groups;
  if (string !== undefined) return string['double'] ?? string['single'] ?? '';
  const literal = text.replace(/\s*#.*$/, '').trim();
  const value = scalar(literal);
  if (value !== undefined) return value;
  if (NESTED.test(literal) || OTHER.test(literal) || isTuple(literal))
    throw refusedAt(
      line,
      `${quoted(text)} is a list, map or other value of Python; write the inventory in YAML for it`,
    );
  return text;
}

/** Undefined for what is no number, True, False or None. */
function scalar(literal: string): VarValue | undefined {
  const word = WORDS.get(literal);
  if (word !== undefined) return word;
  const [, signs = '', written = ''] = /^([-+\s]*)(.*)$/s.exec(literal) ?? [];
  const sign = signs.replace(/[^-]/g, '').length % 2 === 1 ? '-' : '';
  const digits = written.replaceAll('_', '');
  if (BASED.test(written)) return integer(sign, digits.toLowerCase());
  if (WHOLE.test(written)) return /^0+[1-9]/.test(digits) ? undefined : integer(sign, digits);
  return REAL.test(written) ? (float(Number(`${sign}${digits}`)) ?? undefined) : undefined;
}

function isTuple(literal: string): boolean {
  const parts = literal.split(',').map((part) => part.trim());
  if (parts.length < 2) return false;
  return parts.every((part, at) => (part === '' && at > 0) || scalar(part) !== undefined || QUOTED.test(part));
}
