import { LeftOut } from './reading/fields.ts';

/** What the arguments of a call of ansible-playbook say. */
export interface AnsibleArguments {
  readonly limit: string | null;
  readonly tags: readonly string[];
  readonly skipTags: readonly string[];
  readonly check: boolean;
  readonly diff: boolean;
  /** Arguments that decide nothing but what is printed. */
  readonly left: readonly string[];
}

/** Options without a value. */
const FLAGS: Readonly<Record<string, 'check' | 'diff'>> = {
  '--check': 'check',
  '-C': 'check',
  '--diff': 'diff',
  '-D': 'diff',
};
const VALUES: Readonly<Record<string, 'limit' | 'tags' | 'skipTags'>> = {
  '--limit': 'limit',
  '-l': 'limit',
  '--tags': 'tags',
  '-t': 'tags',
  '--skip-tags': 'skipTags',
};
const VERBOSE = /^(?:-v+|--verbose)$/;

/** Throws LeftOut for an argument that a schedule has no field for. */
export function readArguments(words: readonly string[]): AnsibleArguments {
  const given = { limit: [] as string[], tags: [] as string[], skipTags: [] as string[] };
  const flags = { check: false, diff: false };
  const left: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, option = word, joined] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    const flag = joined === undefined && Object.hasOwn(FLAGS, option) ? FLAGS[option] : undefined;
    const value = Object.hasOwn(VALUES, option) ? VALUES[option] : undefined;
    if (flag !== undefined) flags[flag] = true;
    else if (value !== undefined) given[value].push(joined ?? words[(at += 1)] ?? '');
    else if (VERBOSE.test(word)) left.push(word);
    else throw new LeftOut(`a schedule has no field for its argument ${JSON.stringify(word.slice(0, 80))}`);
  }
  if (given.limit.length > 1) throw new LeftOut('it has more than one limit');
  return { ...flags, limit: given.limit[0] ?? null, tags: listed(given.tags), skipTags: listed(given.skipTags), left };
}

function listed(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(',')).map((word) => word.trim());
}
