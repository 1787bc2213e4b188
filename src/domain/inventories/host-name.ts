import { isIP } from 'node:net';
import { INVENTORY_LIMITS } from './inventory.ts';
import { quoted, refusedAt } from './refused.ts';

const LABEL = '(?:[A-Za-z0-9_][A-Za-z0-9_-]*)?[A-Za-z0-9]';
const HOST_NAME = new RegExp(String.raw`^(?=.{1,253}$)${LABEL}(?:\.${LABEL})*$`);
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** `[01:20]`, `[a:f]`, `[0:8:2]`, `[:5]` */
const RANGE = /\[([^[\]]*)\]/;
const BRACKETED = /^\[(?<address>.+)\]:(?<port>\d{1,5})$/;
const WITH_PORT = /^(?<address>(?:[^:[\]]|\[[^\]]*\])*):(?<port>\d{1,5})$/;

/** With its ranges: each of them is a call of the reader. */
const PATTERN_CHARACTERS_MAX = 1_000;

/** Letters, digits, `_` and `-` in labels between dots, as DNS and Ansible have them. */
export function isHostName(text: string): boolean {
  return HOST_NAME.test(text);
}

/** The hosts that a line or key names: `web1`, `web[01:20].example.org`, `db1:2222`, `[2001:db8::1]:22`. */
interface NamedHosts {
  readonly names: readonly string[];
  readonly port: string | null;
}

/** Throws invalid_argument that names the line. */
export function hostNames(pattern: string, line: number): NamedHosts {
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    throw refusedAt(line, `expected at most ${PATTERN_CHARACTERS_MAX} characters in a name of hosts`);
  const plain = isIP(pattern) === 6 ? null : (BRACKETED.exec(pattern) ?? WITH_PORT.exec(pattern));
  const { address = pattern, port = null } = plain?.groups ?? {};
  const names = expand(address, line);
  for (const name of names)
    if (!isHostName(name) && (isIP(name) !== 6 || name.includes('%')))
      throw refusedAt(
        line,
        `${quoted(pattern)} is not a host name; expected letters, digits and _ - . as in web1.example.org, or an ` +
          'address',
      );
  return { names, port };
}

/** A range is counted before it is expanded, so that a short line makes no long list. */
function expand(text: string, line: number): string[] {
  const range = RANGE.exec(text);
  if (range === null) return [text];
  const head = text.slice(0, range.index);
  const tail = expand(text.slice(range.index + range[0].length), line);
  const values = rangeOf(range[1] ?? '', line);
  if (values.length * tail.length > INVENTORY_LIMITS.hosts) throw tooManyHosts(line);
  return values.flatMap((value) => tail.map((rest) => `${head}${value}${rest}`));
}

export function tooManyHosts(line: number): Error {
  return refusedAt(line, `expected at most ${INVENTORY_LIMITS.hosts} hosts`);
}

function rangeOf(text: string, line: number): string[] {
  const [from = '', to = '', by = '1', ...more] = text.split(':');
  const refuse = (what: string): Error => refusedAt(line, `the range [${text.slice(0, 80)}] ${what}`);
  if (more.length > 0 || to === '' || !text.includes(':')) throw refuse('must be begin:end or begin:end:step');
  const first = from === '' ? '0' : from;
  const step = /^[1-9]\d{0,8}$/.test(by) ? Number(by) : null;
  if (step === null) throw refuse('has a wrong step; expected a whole number from 1');
  const counted = (begin: number, end: number): number[] => {
    if (begin > end) throw refuse('must not end before it begins');
    const length = Math.floor((end - begin) / step) + 1;
    if (length > INVENTORY_LIMITS.hosts) throw tooManyHosts(line);
    return Array.from({ length }, (_each, at) => begin + at * step);
  };
  if (/^[A-Za-z]$/.test(first) && /^[A-Za-z]$/.test(to))
    return counted(LETTERS.indexOf(first), LETTERS.indexOf(to)).map((at) => LETTERS[at] ?? '');
  if (!/^\d{1,15}$/.test(first) || !/^\d{1,15}$/.test(to)) throw refuse('must have numbers or single letters');
  const width = first.startsWith('0') && first.length > 1 ? first.length : 0;
  if (width > 0 && to.length !== width) throw refuse('must have as many digits at its end as at its beginning');
  return counted(Number(first), Number(to)).map((each) => String(each).padStart(width, '0'));
}
