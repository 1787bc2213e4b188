import { liveListOf } from '../../live/live-list.ts';
import type { Flag, Tree, Verb } from '../../syntax/tree.ts';

/** What the scripts of all shells know of the command tree. */

/** The words that may follow a path of nouns and verbs, such as `list`, `add` and `remove` after `notify endpoint`. */
type NextWords = ReadonlyMap<string, readonly string[]>;

export function nextWords({ verbs }: Tree): NextWords {
  const next = new Map<string, Set<string>>();
  for (const { path } of verbs)
    for (const [at, word] of path.split(' ').entries()) {
      const before = path.split(' ').slice(0, at).join(' ');
      next.set(before, (next.get(before) ?? new Set()).add(word));
    }
  next.get('')?.add('help');
  return new Map([...next].map(([before, words]) => [before, [...words]]));
}

export function valuesOf(verb: Verb): readonly string[] {
  return verb.positionals.flatMap((positional) => positional.values ?? []);
}

/** The names of the flags that `isOne` selects. */
export function flagNames(tree: Tree, isOne: (flag: Flag) => boolean): string[] {
  const all = [...tree.globals, ...tree.verbs.flatMap((verb) => verb.flags)];
  return [...new Set(all.filter(isOne).map(({ name }) => `--${name}`))];
}

/** Flags that take a value: the word after one is not a noun or verb. */
export function takingFlags(tree: Tree): string[] {
  return flagNames(tree, ({ type }) => type !== 'boolean');
}

export function isLive(tree: Tree, verb: Verb, named: Parameters<typeof liveListOf>[2]): boolean {
  return liveListOf(tree, verb, named) !== null || isContextName(verb, named);
}

/** Of `svc context use` and `remove`; contexts are files here, and no operation lists them. */
function isContextName({ path }: Verb, { field }: { readonly field?: string }): boolean {
  return field === 'name' && /^context (use|remove)$/.test(path);
}

/** Verbs whose first argument is a name that svc lists. */
export function liveVerbs(tree: Tree): Verb[] {
  return tree.verbs.filter((verb) => {
    const [first] = verb.positionals;
    return first !== undefined && isLive(tree, verb, first);
  });
}

/** A word such as `<` would be an operator of the shell. */
export function quoteEach(words: string): string {
  return words
    .split(' ')
    .map((word) => (/^[\w-]+$/.test(word) ? word : `'${word}'`))
    .join(' ');
}

export function takesFile({ placeholder }: Flag): boolean {
  return placeholder === 'FILE' || placeholder === 'DIR';
}
