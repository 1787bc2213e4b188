/**
 * Where a word of a command is a program or a script, so that text of an event must not stand there: whoever sends the
 * event would write what is run. What is not known here is not found: the list is of what rules are likely to call.
 */

/** A word of a command: its text, or null where an expression is in it, and what stands before that. */
export interface ScriptWord {
  readonly fixed: string | null;
  readonly before: string;
}

/** Programs that take a script as an argument, or a file with one. */
const INTERPRETER = /^(?:sh|bash|dash|zsh|ksh|ash|fish|csh|tcsh|python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|awk|gawk|mawk|sed|pwsh|osascript)$/;
/** Programs with an option for a script, which may stand behind other words. */
const WITH_SCRIPT_OPTION = /^(?:su|runuser|script|flock|git|psql|mysql|mariadb)$/;
/** `-c`, `-ec`, `-e`, `--eval` and such: the next word is the script. */
const SCRIPT_FLAG = /^(?:-[A-Za-z]*[ceErp]|--(?:eval|exec|execute|command|expression|print))$/;
/** The same with the script in the same word. */
const SCRIPT_IN_FLAG = /^(?:-[A-Za-z]*[ceE]|--(?:eval|exec|execute|command|expression|print)=)/;
/** Of programs that are no interpreters: `-p` and others mean something else there. */
const OPTION = /^(?:-[ce]|--(?:command|execute))$/;
const IN_OPTION = /^(?:-[ce]|--(?:command|execute)=)/;
/** Of env alone: a word that it splits into a program and its arguments. */
const SPLIT_FLAG = /^(?:-[A-Za-z0]*S|--split-string)$/;
const SPLIT_IN_FLAG = /^(?:-[A-Za-z0]*S|--split-string=)/;
/** These take their script as the first word that is no option. */
const BARE_SCRIPT = /^(?:awk|gawk|mawk|sed)$/;
/** Options of shells whose value is the next word. */
const WITH_VALUE = /^[-+][oO]$/;

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
  timeout: { values: 'ks', operands: 1 },
  nice: { values: 'n', operands: 0 },
  ionice: { values: 'cnpPu', operands: 0 },
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
  unshare: { values: 'RwSG', operands: 0 },
  nsenter: { values: 'tSGW', operands: 0 },
  'systemd-run': { values: 'pEHMtu', operands: 0 },
  busybox: { values: '', operands: 0 },
  strace: { values: 'oepsPuEIabSX', operands: 0 },
};

const NO_WORD: ScriptWord = { fixed: '', before: '' };
const SCRIPT = '${…} in a script would let the event write the program; hand it over as an argument, as in ["sh", "-c", "echo \\"$1\\"", "sh", "${event.name}"]';
const PROGRAM = '${…} where a program is named would let the event choose the program';

/** Refuses a command in which `${…}` names the program, or stands in a script, as in `["sh", "-c", "echo ${event.name}"]`. */
export function refuseScript(words: readonly ScriptWord[], refuse: (what: string) => never): void {
  // Anywhere: a program may be handed on, as in `find … -exec sh -c`.
  words.forEach(({ fixed }, at) => {
    if (fixed !== null && INTERPRETER.test(programOf(fixed)) && isOpen(words, scriptAfter(words, at))) refuse(SCRIPT);
  });
  for (let at: number | null = 0; at !== null; at = programAfter(words, at)) {
    if (isOpen(words, at)) refuse(PROGRAM);
    if (takesScript(words, at) || isOpen(words, scriptFile(words, at))) refuse(SCRIPT);
  }
}

/** Whether a word behind the program at `at` that holds an expression is a script to it. */
function takesScript(words: readonly ScriptWord[], at: number): boolean {
  const program = programOf(words[at]?.fixed ?? '');
  if (WITH_SCRIPT_OPTION.test(program) && words.some((_, index) => index > at && isScriptOption(words, index))) return true;
  const reading = of(HANDS_TO_SHELL, program);
  return reading !== undefined && operandsAfter(words, at, reading).some((index) => isOpen(words, index));
}

/** The first word behind an interpreter that is no option: the file of its script, where it has no other; -1 where none is. */
function scriptFile(words: readonly ScriptWord[], at: number): number {
  if (!INTERPRETER.test(programOf(words[at]?.fixed ?? '')) || scriptAfter(words, at) >= 0) return -1;
  return operandsAfter(words, at, { values: 'oO', operands: 0 })[0] ?? -1;
}

/** Which word is the script of the interpreter at `at`; -1 where none is. */
function scriptAfter(words: readonly ScriptWord[], at: number): number {
  for (let index = at + 1; index < words.length; index += 1) {
    const { fixed, before } = words[index] ?? NO_WORD;
    if (fixed === null) return SCRIPT_IN_FLAG.test(before) || (bareScript(words, at) && !before.startsWith('-')) ? index : -1;
    if (SCRIPT_FLAG.test(fixed)) return index + 1;
    if (WITH_VALUE.test(fixed)) index += 1;
    else if (!fixed.startsWith('-')) return bareScript(words, at) ? index : -1;
  }
  return -1;
}

function bareScript(words: readonly ScriptWord[], at: number): boolean {
  return BARE_SCRIPT.test(programOf(words[at]?.fixed ?? ''));
}

function isScriptOption(words: readonly ScriptWord[], index: number): boolean {
  const { fixed, before } = words[index] ?? NO_WORD;
  return fixed === null ? IN_OPTION.test(before) : OPTION.test(fixed) && isOpen(words, index + 1);
}

/** Which word names the program that the wrapper at `at` starts; null where it is none, or where no word does. */
function programAfter(words: readonly ScriptWord[], at: number): number | null {
  const name = programOf(words[at]?.fixed ?? '');
  const reading = of(WRAPPERS, name);
  if (reading === undefined) return null;
  const isEnv = name === 'env';
  const split = isEnv ? words.findIndex((_, index) => index > at && splits(words, index)) : -1;
  // What it splits may be a program and a script's option: no word behind that is certain to be an argument only.
  if (split >= 0) {
    const open = words.findIndex((_, index) => index >= split && isOpen(words, index));
    return open < 0 ? null : open;
  }
  return operandsAfter(words, at, reading).find((index) => !isEnv || !isAssignment(words[index] ?? NO_WORD)) ?? null;
}

/** The words behind the program at `at`, without its options, their values, and the operands that it keeps for itself. */
function operandsAfter(words: readonly ScriptWord[], at: number, { values, operands }: Reading): number[] {
  const found: number[] = [];
  for (let index = at + 1; index < words.length; index += 1) {
    const text = words[index]?.fixed ?? words[index]?.before ?? '';
    // Behind its first operand nothing is an option of it any more.
    if (found.length > 0 || !text.startsWith('-')) found.push(index);
    else if (/^-[A-Za-z]$/.test(text) && values.includes(text.charAt(1))) index += 1;
  }
  return found.slice(operands);
}

function isAssignment({ fixed, before }: ScriptWord): boolean {
  return /^[A-Za-z_]\w*=/.test(fixed ?? before);
}

function splits(words: readonly ScriptWord[], index: number): boolean {
  const { fixed, before } = words[index] ?? NO_WORD;
  return fixed === null ? SPLIT_IN_FLAG.test(before) : SPLIT_FLAG.test(fixed);
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
