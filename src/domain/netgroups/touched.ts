import { compileNetgroups, type Netgroup } from './netgroup.ts';
import type { PrefixList } from './prefix-list.ts';

/** The groups with a prefix in one of these lists, or around a part of one: their answers change with the list. */
export function touchedGroups(lists: readonly PrefixList[], groups: readonly Netgroup[]): string[] {
  const changed = lists.flatMap(({ prefixes, excludes }) => [...prefixes, ...excludes]);
  const isIn = covers(changed);
  return groups.filter(({ prefixes }) => prefixes.some(isIn) || changed.some(covers(prefixes))).map(({ name }) => name);
}

/** Whether one of the prefixes has the first address of another: two prefixes are apart, or one is in the other. */
function covers(prefixes: readonly string[]): (prefix: string) => boolean {
  const index = compileNetgroups([{ name: 'covering', prefixes, excludes: [] }]);
  return (prefix) => index.match(prefix.slice(0, prefix.indexOf('/'))) !== null;
}
