/**
 * Where a word of a command is a program or a script, so that text of an event must not stand there: whoever sends the
 * event would write what is run. The programs are those that rules are likely to call; of others nothing is known here.
 * Where it can not be told whether a word is the value of an option or the program, it is taken for the worse.
 */

/** A word of a command: its text, or null where an expression is in it, and what stands before that. */
export interface ScriptWord {
  readonly fixed: string | null;
  readonly before: string;
}

/** How an interpreter reads its options: letters whose next word is the script, or code beside it, and letters with any other value. */
interface Interpreter {
  readonly names: RegExp;
  readonly script: string;
  readonly code?: string;
  readonly values: string;
  /** Whether its script is the first word that is no option. */
  readonly bare?: true;
  /** Whether options may still come behind words that are none, as GNU's tools have it. */
  readonly goesOn?: true;
}

const INTERPRETERS: readonly Interpreter[] = [
  { names: /^(?:sh|bash|dash|zsh|ksh|ash|fish|csh|tcsh|pwsh)$/, script: 'c', values: 'oO' },
  { names: /^python[\d.]*$/, script: 'cm', values: 'WX' },
  { names: /^(?:perl[\d.]*|ruby[\d.]*|lua[\d.]*|osascript|tclsh)$/, script: 'eE', code: 'MI', values: '', goesOn: true },
  { names: /^(?:node|nodejs|bun|deno)$/, script: 'ep', code: 'r', values: '', goesOn: true },
  { names: /^php[\d.]*$/, script: 'rBREf', values: 'dc' },
  { names: /^(?:awk|gawk|mawk)$/, script: 'ef', values: 'vF', bare: true },
  { names: /^sed$/, script: 'ef', values: 'l', bare: true, goesOn: true },
];
/** Programs with an option for a script, which may stand behind other words: its letter. */
const SCRIPT_OPTIONS: Readonly<Record<string, string>> = { su: 'c', runuser: 'c', script: 'c', flock: 'c', git: 'c', psql: 'c', mysql: 'e', mariadb: 'e', mongosh: 'e', rsync: 'e' };
const LONG_SCRIPT = /^--(?:eval|exec|execute|command|expression|print|require|import|file|source|split-string|rsh)(=|$)/;

/** How the words behind a program are read: the letters of its options with a value, and how many words come before what it runs. */
interface Reading {
  readonly values: string;
  readonly operands: number;
}

/** What stands behind them is given to a shell; of ssh, behind the host, to the one on the other machine. */
const HANDS_TO_SHELL: Readonly<Record<string, Reading>> = {
  watch: { values: 'nqs', operands: 0 },
  eval: { values: '', operands: 0 },
  ssh: { values: 'BbcDEeFIiJLlmOoPpQRSWw', operands: 1 },
};

/** Programs that start another one. */
const WRAPPERS: Readonly<Record<string, Reading>> = {
  env: { values: 'uC', operands: 0 },
  sudo: { values: 'ugpCrtThUDR', operands: 0 },
  doas: { values: 'uC', operands: 0 },
  runuser: { values: 'ugGsw', operands: 0 },
  gosu: { values: '', operands: 1 },
  pkexec: { values: '', operands: 0 },
  timeout: { values: 'ks', operands: 1 },
  nice: { values: 'n', operands: 0 },
  ionice: { values: 'cnpPu', operands: 0 },
  numactl: { values: 'NmCip', operands: 0 },
  nohup: { values: '', operands: 0 },
  setsid: { values: '', operands: 0 },
  setpriv: { values: '', operands: 0 },
  stdbuf: { values: 'ioe', operands: 0 },
  taskset: { values: '', operands: 1 },
  chrt: { values: 'TPD', operands: 1 },
  chroot: { values: '', operands: 1 },
  flock: { values: 'wE', operands: 1 },
  time: { values: 'fo', operands: 0 },
  exec: { values: 'a', operands: 0 },
  command: { values: '', operands: 0 },
  xargs: { values: 'adEILnPs', operands: 0 },
  parallel: { values: 'jaSNnIk', operands: 0 },
  unshare: { values: 'RwSG', operands: 0 },
  nsenter: { values: 'tSGW', operands: 0 },
  'systemd-run': { values: 'pEHMtu', operands: 0 },
  busybox: { values: '', operands: 0 },
  strace: { values: 'oepsPuEIabSX', operands: 0 },
};

const SHORT = /^-[A-Za-z0-9]+$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** Variables that say which program or library is run. */
const RUNS_CODE = /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|(?:LD|DYLD|PYTHON|PERL5?|RUBY|NODE|GIT|LUA|PHP)_?[A-Z0-9_]*)=/;
/** Options of ssh that run a command on this machine. */
const SSH_COMMAND = /^(?:-o\s*)?\w*command\s*[= ]/i;
const FOUND = /^-(?:exec|execdir|ok|okdir)$/;

const NO_WORD: ScriptWord = { fixed: '', before: '' };
const SCRIPT = '${…} in a script would let the event write the program; hand it over as an argument, as in ["sh", "-c", "echo \\"$1\\"", "sh", "${event.name}"]';
const PROGRAM = '${…} where a program is named would let the event choose the program; behind a long option write its value with =, and -- before the program';

/** Refuses a command in which `${…}` names the program, or stands in a script, as in `["sh", "-c", "echo ${event.name}"]`. */
export function refuseScript(words: readonly ScriptWord[], refuse: (what: string) => never): void {
  words.forEach(({ fixed, before }, at) => {
    // Anywhere: a program may be handed on, as in `find … -exec sh -c`.
    if (fixed !== null && runsOpen(words, at, false)) refuse(SCRIPT);
    if (fixed !== null && FOUND.test(fixed) && isOpen(words, at + 1)) refuse(PROGRAM);
    if (fixed === null && RUNS_CODE.test(before)) refuse(PROGRAM);
  });
  for (let at: number | null = 0; at !== null; at = programAfter(words, at)) {
    if (isOpen(words, at)) refuse(PROGRAM);
    if (runsOpen(words, at, true) || takesScript(words, at)) refuse(SCRIPT);
  }
}

/** Whether the interpreter at `at` gets a script that holds an expression, or with `file` the name of one. */
function runsOpen(words: readonly ScriptWord[], at: number, file: boolean): boolean {
  const program = programOf(words[at]?.fixed ?? '');
  const interpreter = INTERPRETERS.find(({ names }) => names.test(program));
  if (interpreter === undefined) return false;
  let hasScript = false;
  for (let index = at + 1; index < words.length; index += 1) {
    const { fixed, before } = words[index] ?? NO_WORD;
    const text = fixed ?? before;
    if (fixed !== '-' && text.startsWith('-')) {
      const isScript = LONG_SCRIPT.test(text) || hasLetter(text, interpreter.script);
      const takesNext = !text.includes('=') && (isScript || hasLast(text, `${interpreter.code ?? ''}${interpreter.values}`));
      if ((isScript || hasLetter(text, interpreter.code ?? '')) && (fixed === null || (takesNext && isOpen(words, index + 1)))) return true;
      hasScript ||= isScript;
      if (takesNext) index += 1;
    } else {
      // Its script or its file; what is found anywhere is an argument more often than a program.
      if (!hasScript && fixed === null) return file || interpreter.bare === true;
      if (interpreter.goesOn === undefined) return false;
      hasScript = true;
    }
  }
  return false;
}

/** Whether a cluster of short options has one of these letters, as `-euc`; a value may follow in the same word. */
function hasLetter(text: string, letters: string): boolean {
  const cluster = /^-([A-Za-z]+)/.exec(text)?.[1] ?? '';
  return Array.from(cluster).some((letter) => letters.includes(letter));
}

function hasLast(text: string, letters: string): boolean {
  return SHORT.test(text) && letters.includes(text.slice(-1));
}

/** Whether a word behind the program at `at` that holds an expression is a script to it. */
function takesScript(words: readonly ScriptWord[], at: number): boolean {
  const program = programOf(words[at]?.fixed ?? '');
  const letter = Object.hasOwn(SCRIPT_OPTIONS, program) ? SCRIPT_OPTIONS[program] : undefined;
  const isOption = ({ fixed, before }: ScriptWord): boolean => {
    const text = fixed ?? before;
    return LONG_SCRIPT.test(text) || (letter !== undefined && new RegExp(`^-[A-Za-z]*${letter}`).test(text) && (fixed === null || text.endsWith(letter)));
  };
  if (letter !== undefined && words.some((word, index) => index > at && isOption(word) && (word.fixed === null || isOpen(words, index + 1)))) return true;
  if (program === 'ssh' && words.some(({ fixed, before }, index) => fixed === null && (SSH_COMMAND.test(before) || words[index - 1]?.fixed === '-o'))) return true;
  const reading = of(HANDS_TO_SHELL, program);
  return reading !== undefined && operandsAfter(words, at, reading).some((index) => isOpen(words, index));
}

/** Which word names the program that the wrapper at `at` starts; null where it is none, or where no word does. */
function programAfter(words: readonly ScriptWord[], at: number): number | null {
  const name = programOf(words[at]?.fixed ?? '');
  const reading = of(WRAPPERS, name);
  if (reading === undefined) return null;
  const splits = ({ fixed, before }: ScriptWord): boolean => /^(?:-[A-Za-z0]*S|--split-string)/.test(fixed ?? before);
  const split = name === 'env' ? words.findIndex((word, index) => index > at && splits(word)) : -1;
  // What it splits may be a program and a script's option: no word behind that is certain to be an argument only.
  if (split >= 0) {
    const open = words.findIndex((_, index) => index >= split && isOpen(words, index));
    return open < 0 ? null : open;
  }
  return operandsAfter(words, at, reading)[0] ?? null;
}

/** The words behind the program at `at`, without its options, their values, assignments, and the operands that it keeps for itself. */
function operandsAfter(words: readonly ScriptWord[], at: number, { values, operands }: Reading): number[] {
  const found: number[] = [];
  for (let index = at + 1; index < words.length; index += 1) {
    const { fixed, before } = words[index] ?? NO_WORD;
    const text = fixed ?? before;
    // Behind its first operand nothing is an option of it any more.
    if (found.length > operands || (!text.startsWith('-') && (found.length > 0 || !ASSIGNMENT.test(text)))) found.push(index);
    else if (text.startsWith('-') && fixed !== '--') {
      const mayTakeNext = SHORT.test(text) ? values.includes(text.slice(-1)) : !text.includes('=');
      // Whether a long option takes a value is not known: what comes from the event is not passed over, it could be the program.
      if (fixed !== null && mayTakeNext && (SHORT.test(text) || !isOpen(words, index + 1))) index += 1;
    }
  }
  return found.slice(operands);
}

function isOpen(words: readonly ScriptWord[], index: number): boolean {
  return words[index] !== undefined && words[index].fixed === null;
}

function of(table: Readonly<Record<string, Reading>>, program: string): Reading | undefined {
  return Object.hasOwn(table, program) ? table[program] : undefined;
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
