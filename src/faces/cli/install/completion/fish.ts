import type { Flag, Tree } from '../../syntax/tree.ts';
import { isLive, liveVerbs, nextWords, quoteEach, takesFile, takingFlags, valuesOf } from './words.ts';

function say(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const FISH_LIVE = "'(svc complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null </dev/null)'";

function fishFlag(condition: string, flag: Flag, live: boolean): string {
  const value =
    flag.type === 'boolean'
      ? ''
      : flag.values !== undefined
        ? ` -x -a ${say(quoteEach(flag.values.join(' ')))}`
        : live
          ? ` -x -a ${FISH_LIVE}`
          : ` -r${takesFile(flag) ? 'F' : 'f'}`;
  return `complete -c svc${condition} -l ${flag.name}${value} -d ${say(flag.help)}`;
}

/** Where the words so far are this path. */
function at(path: string): string {
  return ` -n ${say(`__svc_at "${path}"`)}`;
}

/** The same, also with arguments after the path. */
function within(path: string): string {
  return ` -n ${say(`__svc_within "${path}"`)}`;
}

export function fish(tree: Tree): string {
  return [
    `# Completion of svc for fish: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_path
  set -l prev ''
  set -l path
  for word in (commandline -opc)[2..-1]
    if test "$word" = --
      echo -- --
      return
    end
    if contains -- "$prev" ${takingFlags(tree).join(' ')}
      set prev ''
      continue
    end
    set prev $word
    string match -q -- '-*' $word; or set -a path $word
  end
  echo "$path"
end
function __svc_at
  test (__svc_path) = "$argv[1]"
end
function __svc_within
  string match -q -- "$argv[1] *" (__svc_path)' '
end
complete -c svc -f`,
    ...tree.globals.map((flag) => fishFlag('', flag, flag.name === 'context')),
    ...[...nextWords(tree)].flatMap(([before, words]) =>
      words.map((word) => {
        const summary = summaryOf(tree, before === '' ? word : `${before} ${word}`);
        return `complete -c svc${at(before)} -a ${word}${summary === '' ? '' : ` -d ${say(summary)}`}`;
      }),
    ),
    ...tree.verbs.flatMap((verb) =>
      verb.flags.map((flag) => fishFlag(within(verb.path), flag, isLive(tree, verb, flag))),
    ),
    ...liveVerbs(tree).map((verb) => `complete -c svc${at(verb.path)} -a ${FISH_LIVE}`),
    ...tree.verbs
      .filter((verb) => valuesOf(verb).length > 0)
      .map((verb) => `complete -c svc${at(verb.path)} -a ${say(valuesOf(verb).join(' '))}`),
    '',
  ].join('\n');
}

/** Of a verb or a noun; empty for others. */
function summaryOf(tree: Tree, path: string): string {
  return (
    [...tree.nouns.map(({ name, summary }) => ({ path: name, summary })), ...tree.verbs].find(
      (each) => each.path === path,
    )?.summary ?? ''
  );
}
