import { Failure } from '../failure.ts';
import { FAMILY_BITS, prefixText, readPrefix } from '../../lib/ip/prefix.ts';

/** Bounds of the groups of a service. Compiling as many prefixes as all groups may have takes 25 ms. */
export const NETGROUP_LIMITS = { groups: 1_000, prefixesEach: 1_000, prefixesInAll: 5_000 } as const;

/** The group of every address that no other group covers, or that an exclusion covers. No group has this name. */
export const AWAY = 'away';

/** What marks an exclusion. */
const EXCLUSION = '!';
const SHOWN_CHARACTERS_MAX = 60;

/** The prefixes of a group, in canonical form and without duplicates, in the order in which they were given. */
export interface PrefixList {
  readonly prefixes: readonly string[];
  readonly excludes: readonly string[];
}

/** Reads `10.0.0.0/8, !10.1.0.0/16`. Throws invalid_argument. */
export function readPrefixList(text: string): PrefixList {
  const members = text.split(',', NETGROUP_LIMITS.prefixesEach + 1).map((member) => member.trim());
  if (members.length > NETGROUP_LIMITS.prefixesEach)
    throw refused(`expected at most ${NETGROUP_LIMITS.prefixesEach} prefixes`);
  const prefixes = new Set<string>();
  const excludes = new Set<string>();
  for (const member of members) {
    const isExclusion = member.startsWith(EXCLUSION);
    const written = isExclusion ? member.slice(EXCLUSION.length).trim() : member;
    const prefix = readPrefix(written);
    if (prefix === null) throw refused(faultOf(written));
    (isExclusion ? excludes : prefixes).add(prefixText(prefix));
  }
  if (prefixes.size === 0)
    throw refused(`expected at least one prefix without ${EXCLUSION}; a group with exclusions only covers nothing`);
  return { prefixes: [...prefixes], excludes: [...excludes] };
}

/** Reads a list that was stored. */
export function storedPrefixes(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

/** How a list is stored. */
export function prefixesToStore(prefixes: readonly string[]): string {
  return prefixes.join(',');
}

function refused(what: string): Failure {
  return new Failure('invalid_argument', `prefixes: ${what}.`);
}

/** Why a text is no prefix, and what to write. */
function faultOf(text: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS_MAX));
  if (text === '')
    return `expected a prefix such as 10.0.0.0/8 before and after each "," and after each "${EXCLUSION}"`;
  if (text.includes('%')) return `${shown} has a zone; expected a prefix without one, such as fe80::/10`;
  if (/(?:^|[./])0\d/.test(text))
    return `${shown} has a number with leading zeros; expected a prefix such as 10.1.0.0/16`;
  const [address = '', length] = text.split('/');
  if (length !== undefined && readPrefix(address) !== null)
    return `${shown} has a wrong length; expected 0 to ${FAMILY_BITS[4]} for IPv4 and 0 to ${FAMILY_BITS[6]} for IPv6`;
  return `${shown} is not a prefix; expected an address and a length, such as 10.0.0.0/8 or fd00::/8`;
}
