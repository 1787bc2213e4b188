import { readDatabaseUrl } from '../../domain/database/database-url.ts';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { requireDuration } from '../../domain/duration.ts';
import { allowsAddress, parsePrefix } from '../../lib/ip/address.ts';
import { PUSH_DETAILS, type PushDetail } from '../../domain/notify/row.ts';
import { NAME } from '../../domain/name.ts';
import { formatSize, parseSize } from '../../domain/size.ts';
import { refuseSetting } from './refuse-setting.ts';

/** Parsers of setting values. Each throws invalid_argument for invalid text. */

/** More than the proxies of any site; checking them takes a few microseconds a request. */
const TRUSTED_PROXIES_MAX = 64;
/** The kernel takes no longer name of a socket. */
const SOCKET_PATH_MAX = 107;
/** A shell and a small tool run in it. */
const JOB_MEMORY_MIN_BYTES = 16 * 2 ** 20;
/** The length of a value that a message quotes. */
const QUOTED_CHARACTERS_MAX = 64;

export function optional(text: string | undefined): string | null {
  return text ?? null;
}

export function optionalPath(text: string | undefined): string | null {
  return text === undefined ? null : resolve(text);
}

/** A path that ssh takes as it is: it replaces `%` and `$` in the name of an agent. */
export function socketPath(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const path = resolve(text);
  if (/^[A-Za-z0-9/._:@+-]+$/.test(path) && path.length <= SOCKET_PATH_MAX) return path;
  return refuseSetting(flag, `expected at most ${SOCKET_PATH_MAX} letters, digits and the characters / . _ : @ + -`);
}

export function wholeNumber(
  flag: string,
  text: string | undefined,
  standard: number,
  [min, max]: readonly [number, number],
): number {
  if (text === undefined) return standard;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : refuseSetting(flag, `expected a whole number from ${min} to ${max}`);
}

/** A flag without a value comes as `true`. */
export function isOn(flag: string, text: string | undefined): boolean {
  if (text === undefined || ['0', 'false'].includes(text)) return false;
  return ['1', 'true'].includes(text) ? true : refuseSetting(flag, 'expected true or false');
}

/** In bytes. */
export function jobMemory(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const bytes = parseSize(text);
  if (bytes !== null && bytes >= JOB_MEMORY_MIN_BYTES) return bytes;
  const least = formatSize(JOB_MEMORY_MIN_BYTES);
  return refuseSetting(flag, `expected a size of at least ${least}, such as 512MiB or 2GiB`);
}

export function basePath(text: string | undefined): string {
  const raw = (text ?? '').replace(/\/+$/, '');
  if (raw === '') return '';
  const ok = /^(\/[A-Za-z0-9._~-]+)+$/.test(raw) && raw.split('/').every((part) => part !== '.' && part !== '..');
  return ok ? raw : refuseSetting('base-path', 'expected a path such as /ops');
}

/** Of the IANA database; by default that of this machine. */
export function timeZone(text: string | undefined): string {
  if (text === undefined) return Temporal.Now.timeZoneId();
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return refuseSetting('time-zone', 'expected the name of a time zone, such as Europe/Berlin or UTC');
  }
}

export function publicUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return refuseSetting('public-url', 'expected an http or https URL');
  if (url.username !== '' || url.password !== '') refuseSetting('public-url', 'the URL must not carry credentials');
  if (url.pathname !== '/' || text.endsWith('/') || url.search !== '' || url.hash !== '') {
    refuseSetting('public-url', 'the URL must not carry a path');
  }
  return url.origin;
}

export function canary(text: string | undefined): string | null {
  if (text === undefined) return null;
  const match = /^(?:\[([^\]]+)\]|([0-9.]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? Number.NaN);
  const literal = match !== null && (match[1] === undefined ? isIP(match[2] ?? '') === 4 : isIP(match[1]) === 6);
  return literal && port >= 1 && port <= 65_535 ? text : refuseSetting('check-canary', 'expected ip:port');
}

export function pushDetail(text: string | undefined): PushDetail {
  if (text === undefined) return 'summary';
  return (
    PUSH_DETAILS.find((rung) => rung === text) ??
    refuseSetting('push-detail', `expected one of ${PUSH_DETAILS.join(', ')}`)
  );
}

export function databaseUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  readDatabaseUrl(text);
  return text;
}

/** Every prefix is checked at the start, so that a mistake never trusts fewer or more proxies than intended. */
export function trustedProxies(text: string | undefined): readonly string[] {
  const prefixes = (text ?? '').split(/[\s,]+/).filter((part) => part !== '');
  if (prefixes.length > TRUSTED_PROXIES_MAX)
    refuseSetting('trusted-proxy', `expected at most ${TRUSTED_PROXIES_MAX} prefixes`);
  for (const prefix of prefixes) {
    const parsed = parsePrefix(prefix);
    if (parsed === null)
      return refuseSetting(
        'trusted-proxy',
        `"${prefix.slice(0, QUOTED_CHARACTERS_MAX)}" is not a CIDR prefix; expected one such as 10.0.0.0/8, ` +
          'fd00::/8 or 192.0.2.7',
      );
    if (parsed.bits === 0)
      return refuseSetting(
        'trusted-proxy',
        `"${prefix}" would trust every address; expected the addresses of proxies only`,
      );
    if (!allowsAddress('trustedProxy', parsed.address))
      return refuseSetting('trusted-proxy', `"${prefix}" is not a prefix of host or network addresses`);
  }
  return prefixes;
}

/** A check on the status page, and what it is called there. */
interface StatusCheck {
  readonly name: string;
  readonly label: string;
}

/** The page has a line for each, and is built every 10 s. */
const STATUS_CHECKS_MAX = 50;
const STATUS_LABEL_MAX = 80;

/** `NAME` or `NAME=LABEL`, one a line or with `;` between them. */
export function statusChecks(text: string | undefined): readonly StatusCheck[] {
  const parts = (text ?? '').split(/[\n;]/).map((part) => part.trim());
  const checks = parts
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...rest] = part.split('=');
      const label = rest.length === 0 ? name : rest.join('=').trim();
      if (!NAME.test(name)) refuseSetting('status-check', 'expected NAME or NAME=LABEL, with the name of a check');
      if (label === '' || label.length > STATUS_LABEL_MAX)
        refuseSetting('status-check', `${name}: expected a label of 1 to ${STATUS_LABEL_MAX} characters`);
      return { name, label };
    });
  if (checks.length > STATUS_CHECKS_MAX) refuseSetting('status-check', `expected at most ${STATUS_CHECKS_MAX} checks`);
  const twice = checks.find(({ name }, at) => checks.findIndex((each) => each.name === name) !== at);
  return twice === undefined ? checks : refuseSetting('status-check', `${twice.name} is given twice`);
}

/** Null for the default, which is made of the host name. */
export function nodeName(text: string | undefined): string | null {
  if (text === undefined || NAME.test(text)) return text ?? null;
  return refuseSetting('node-name', 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit');
}

/** What the program knows of one setting. */
export interface Setting<T> {
  /** The flag without its dashes; the environment variable is `SVC_` and the same words. */
  readonly flag: string;
  readonly help: string;
  readonly placeholder?: string;
  /** A flag without a value; in the environment `true` or `false`. */
  readonly isSwitch?: true;
  /** Repeatable: the texts are joined by line ends. */
  readonly repeat?: true;
  /** What a flag must not contain, because the command line is public, and where to put it instead. */
  readonly secret?: { readonly isIn: (text: string) => boolean; readonly what: string; readonly ways: string };
  /**
   * It is the path of a file that decides what the service does, or of such a folder, which the service makes where it
   * is missing: root uses none that another account can change.
   */
  readonly decides?: 'file' | 'folder';
  /** The programs that accept it; absent: all. */
  readonly only?: readonly ('serve' | 'web')[];
  /** Parses the text, which is never empty; throws invalid_argument. Absent text gives the default. */
  read(text: string | undefined): T;
}

export function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

/** A duration of `serve`, in milliseconds: its default, and the shortest and longest that are accepted. */
export function durationSetting(
  flag: string,
  help: string,
  [standard, minMs, maxMs]: [string, number, number],
): Setting<number> {
  const read = (text: string | undefined): number => requireDuration(`--${flag}`, text ?? standard, minMs, maxMs);
  return { flag, placeholder: 'DURATION', only: ['serve'], help, read };
}
