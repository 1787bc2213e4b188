import type { Flag, Tree, Verb } from '../syntax/tree.ts';
import { fish } from './completion/fish.ts';
import {
  flagNames,
  isLive,
  liveVerbs,
  nextWords,
  quoteEach,
  takesFile,
  takingFlags,
  valuesOf,
} from './completion/words.ts';

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

function nextCases(tree: Tree, propose: (words: string) => string): string[] {
  return [...nextWords(tree)].map(([before, words]) => `    '${before}') ${propose(words.join(' '))} ;;`);
}

function dashed(flags: readonly Flag[]): string {
  return flags.map((flag) => `--${flag.name}`).join(' ');
}

/** The pattern of a `case` branch for the flags whose value is a file. */
function filePattern(tree: Tree): string {
  return flagNames(tree, takesFile)
    .map((name) => `*':${name}'`)
    .join('|');
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
  return `compadd -- ${quoteEach(words)}; return`;
}

function bash(tree: Tree): string {
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
    case $prev in ${takingFlags(tree).join('|')}) prev=''; continue ;; esac
    prev=$word
    if [[ $word != -* ]]; then path="\${path:+$path }$word"; fi
  done
  case "$path:$prev" in
${valueCases(tree, proposeInBash).join('\n')}
    ${liveFlags(tree)}) _svc_live; return ;;
    ${filePattern(tree)}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case $prev in ${takingFlags(tree).join('|')}) return ;; esac
  if [[ $cur == -* ]]; then
    case $path in
${flagCases(tree, proposeInBash).join('\n')}
      *) ${proposeInBash(dashed(tree.globals))} ;;
    esac
  fi
  case $path in
${nextCases(tree, proposeInBash).join('\n')}
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
    case $prev in ${takingFlags(tree).join('|')}) prev=''; continue ;; esac
    prev=$word
    if [[ $word != -* ]]; then path_="\${path_:+$path_ }$word"; fi
  done
  case "$path_:$prev" in
${valueCases(tree, proposeInZsh).join('\n')}
    ${liveFlags(tree)}) _svc_live; return ;;
    ${filePattern(tree)}) _files; return ;;
  esac
  case $prev in ${takingFlags(tree).join('|')}) return ;; esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case $path_ in
${flagCases(tree, proposeInZsh).join('\n')}
      *) ${proposeInZsh(dashed(tree.globals))} ;;
    esac
  fi
  case $path_ in
${nextCases(tree, proposeInZsh).join('\n')}
${argumentCases(tree, proposeInZsh).join('\n')}
${liveCase(tree, '_svc_live; return')}
  esac
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`;
}

export function isShell(value: unknown): value is Shell {
  return (SHELLS as readonly unknown[]).includes(value);
}
