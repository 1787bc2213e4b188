import { liveListOf } from '../live/live-list.ts';
import { type Flag, type Tree, type Verb, verbsOf } from '../syntax/tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * A script that completes nouns, verbs, flags, and the values that a flag or an argument may have. Names of things are
 * asked of `svc complete` when they are needed.
 */
export function completionScript(tree: Tree, shell: Shell): string {
  return SCRIPTS[shell](tree);
}

const SCRIPTS: Readonly<Record<Shell, (tree: Tree) => string>> = { bash, zsh, fish };

/** The words that may follow each word, and the flags of each verb, for all shells. */
interface Words {
  readonly nouns: readonly string[];
  /** Noun to verbs; single-word verbs are not in it. */
  readonly verbs: ReadonlyMap<string, readonly string[]>;
}

function wordsOf(tree: Tree): Words {
  const nouns = tree.nouns.map(({ name }) => name);
  const verbs = nouns.map(
    (noun) =>
      [
        noun,
        verbsOf(tree, noun)
          .filter(({ path }) => path !== noun)
          .map(({ path }) => path.slice(noun.length + 1)),
      ] as const,
  );
  return { nouns, verbs: new Map(verbs.filter(([, names]) => names.length > 0)) };
}

function valuesOf(verb: Verb): readonly string[] {
  return verb.positionals.flatMap((positional) => positional.values ?? []);
}

function dashed(flags: readonly Flag[]): string {
  return flags.map((flag) => `--${flag.name}`).join(' ');
}

/** The names of the flags that `isOne` selects. */
function flagNames(tree: Tree, isOne: (flag: Flag) => boolean): string[] {
  const all = [...tree.globals, ...tree.verbs.flatMap((verb) => verb.flags)];
  return [...new Set(all.filter(isOne).map(({ name }) => `--${name}`))];
}

/** The pattern of a `case` branch for the flags whose value is a file. */
function filePattern(tree: Tree): string {
  return flagNames(tree, takesFile)
    .map((name) => `*':${name}'`)
    .join('|');
}

/** Flags that take a value: the word after one is not a noun or verb. */
function takingFlags(tree: Tree): string {
  return flagNames(tree, ({ type }) => type !== 'boolean').join('|');
}

/** The pattern of a flag after its verb, and after arguments of it. */
function afterVerb({ path }: Verb, { name }: Flag): string {
  return `'${path}:--${name}'|'${path} '*':--${name}'`;
}

/** Patterns of a flag after its verb, for the flags whose values svc lists. */
function liveFlags(tree: Tree): string {
  const own = tree.verbs.flatMap((verb) =>
    verb.flags.filter((flag) => isLive(tree, verb, flag)).map((flag) => afterVerb(verb, flag)),
  );
  return [...own, "*':--context'"].join('|');
}

function isLive(tree: Tree, verb: Verb, named: Parameters<typeof liveListOf>[2]): boolean {
  return liveListOf(tree, verb, named) !== null || isContextName(verb, named);
}

/** Of `svc context use` and `remove`; contexts are files here, and no operation lists them. */
function isContextName({ path }: Verb, { field }: { readonly field?: string }): boolean {
  return field === 'name' && /^context (use|remove)$/.test(path);
}

/** Verbs whose first argument is a name that svc lists. */
function liveVerbs(tree: Tree): Verb[] {
  return tree.verbs.filter((verb) => {
    const [first] = verb.positionals;
    return first !== undefined && isLive(tree, verb, first);
  });
}

function liveCase(tree: Tree, propose: string): string {
  return `    ${liveVerbs(tree)
    .map(({ path }) => `'${path}'`)
    .join('|')}) ${propose} ;;`;
}

/** `case` branches for shells of the Bourne family: flag values by verb first, then those of every verb. */
function valueCases(tree: Tree, propose: (values: string) => string): string[] {
  const cases = [
    ...tree.verbs.flatMap((verb) => verb.flags.map((flag) => ({ pattern: afterVerb(verb, flag), flag }))),
    ...tree.globals.map((flag) => ({ pattern: `*':--${flag.name}'`, flag })),
  ];
  return cases.flatMap(({ pattern, flag: { values } }) =>
    values === undefined ? [] : [`    ${pattern}) ${propose(values.join(' '))} ;;`],
  );
}

function flagCases(tree: Tree, propose: (values: string) => string): string[] {
  return tree.verbs.map((verb) => {
    const flags = dashed([...verb.flags, ...tree.globals]);
    return `      '${verb.path}'|'${verb.path} '*) ${propose(flags)} ;;`;
  });
}

function proposeInBash(words: string): string {
  return `COMPREPLY=($(compgen -W '${words}' -- "$cur")); return`;
}

function proposeInZsh(words: string): string {
  return `compadd -- ${words}; return`;
}

function bash(tree: Tree): string {
  const { nouns, verbs } = wordsOf(tree);
  return `# Completion of svc for bash: source <(svc completion bash)
_svc_live() {
  local names
  names=$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null) || return 0
  COMPREPLY=($(compgen -W "$names" -- "$cur"))
}
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev='' path='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == -- ]]; then return; fi
    case $prev in ${takingFlags(tree)}) prev=''; continue ;; esac
    prev=$word
    if [[ $word != -* ]]; then path="\${path:+$path }$word"; fi
  done
  case "$path:$prev" in
${valueCases(tree, proposeInBash).join('\n')}
    ${liveFlags(tree)}) _svc_live; return ;;
    ${filePattern(tree)}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case $prev in ${takingFlags(tree)}) return ;; esac
  if [[ $cur == -* ]]; then
    case $path in
${flagCases(tree, proposeInBash).join('\n')}
      *) ${proposeInBash(dashed(tree.globals))} ;;
    esac
  fi
  case $path in
    '') ${proposeInBash([...nouns, 'help'].join(' '))} ;;
${[...verbs].map(([noun, names]) => `    '${noun}') ${proposeInBash(names.join(' '))} ;;`).join('\n')}
${argumentCases(tree, proposeInBash).join('\n')}
${liveCase(tree, '_svc_live; return')}
  esac
}
complete -o default -F _svc svc
`;
}

function argumentCases(tree: Tree, propose: (values: string) => string): string[] {
  return tree.verbs
    .filter((verb) => valuesOf(verb).length > 0)
    .map((verb) => `    '${verb.path}') ${propose(valuesOf(verb).join(' '))} ;;`);
}

function zsh(tree: Tree): string {
  const { nouns, verbs } = wordsOf(tree);
  return `#compdef svc
# Completion of svc for zsh: source <(svc completion zsh), or a file named _svc in a folder of $fpath
_svc_live() {
  local -a names
  names=(\${(f)"$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)"})
  compadd -a names
}
_svc() {
  local prev='' path_='' word
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ $word == -- ]]; then _files; return; fi
    case $prev in ${takingFlags(tree)}) prev=''; continue ;; esac
    prev=$word
    if [[ $word != -* ]]; then path_="\${path_:+$path_ }$word"; fi
  done
  case "$path_:$prev" in
${valueCases(tree, proposeInZsh).join('\n')}
    ${liveFlags(tree)}) _svc_live; return ;;
    ${filePattern(tree)}) _files; return ;;
  esac
  case $prev in ${takingFlags(tree)}) return ;; esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case $path_ in
${flagCases(tree, proposeInZsh).join('\n')}
      *) ${proposeInZsh(dashed(tree.globals))} ;;
    esac
  fi
  case $path_ in
    '') ${proposeInZsh([...nouns, 'help'].join(' '))} ;;
${[...verbs].map(([noun, names]) => `    '${noun}') ${proposeInZsh(names.join(' '))} ;;`).join('\n')}
${argumentCases(tree, proposeInZsh).join('\n')}
${liveCase(tree, '_svc_live; return')}
  esac
}
compdef _svc svc
`;
}

function say(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function takesFile({ placeholder }: Flag): boolean {
  return placeholder === 'FILE' || placeholder === 'DIR';
}

const FISH_LIVE = "'(svc complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null </dev/null)'";

function fishFlag(condition: string, flag: Flag, live: boolean): string {
  const value =
    flag.type === 'boolean'
      ? ''
      : flag.values !== undefined
        ? ` -x -a ${say(flag.values.join(' '))}`
        : live
          ? ` -x -a ${FISH_LIVE}`
          : ` -r${takesFile(flag) ? 'F' : ''}`;
  return `complete -c svc${condition} -l ${flag.name}${value} -d ${say(flag.help)}`;
}

function within(path: string): string {
  return ` -n ${say(
    path
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and '),
  )}`;
}

function fish(tree: Tree): string {
  const { nouns, verbs } = wordsOf(tree);
  return [
    '# Completion of svc for fish: svc completion fish > ~/.config/fish/completions/svc.fish',
    'complete -c svc -f',
    ...tree.nouns.map(({ name, summary }) => `complete -c svc -n __fish_use_subcommand -a ${name} -d ${say(summary)}`),
    ...tree.globals.map((flag) => fishFlag('', flag, flag.name === 'context')),
    ...[...verbs].flatMap(([noun, names]) =>
      names.map(
        (name) =>
          'complete -c svc -n ' +
          `${say(`__fish_seen_subcommand_from ${noun}; and not __fish_seen_subcommand_from ${names.join(' ')}`)} ` +
          `-a ${name} -d ${say(summaryOf(tree, `${noun} ${name}`))}`,
      ),
    ),
    ...tree.verbs.flatMap((verb) =>
      verb.flags.map((flag) => fishFlag(within(verb.path), flag, isLive(tree, verb, flag))),
    ),
    ...liveVerbs(tree).map((verb) => `complete -c svc${within(verb.path)} -a ${FISH_LIVE}`),
    ...tree.verbs
      .filter((verb) => valuesOf(verb).length > 0)
      .map((verb) => `complete -c svc${within(verb.path)} -a ${say(valuesOf(verb).join(' '))}`),
    `complete -c svc -n __fish_use_subcommand -a help -d 'Help for ${nouns.length} commands'`,
    '',
  ].join('\n');
}

function summaryOf(tree: Tree, path: string): string {
  return tree.verbs.find((verb) => verb.path === path)?.summary ?? '';
}

export function isShell(value: unknown): value is Shell {
  return (SHELLS as readonly unknown[]).includes(value);
}
