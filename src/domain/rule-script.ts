/**
 * Where a word of a command is a program or a script, so that text of an event must not stand there: whoever sends the
 * event would write what is run. The programs are those that rules are likely to call; of others nothing is known here.
 * Where it can not be told whether a word is the value of an option or the program, it is taken for the worse.
 */
import { CLOSED, type Closed, HANDS_TO_SHELL, INTERPRETERS, type Reading, rowOf, SCRIPT_OPTIONS, type ScriptOptions, WRAPPERS } from './rule-programs.ts';

/** A word of a command: its text, or null where an expression is in it, and what stands before that. */
export interface ScriptWord {
  readonly fixed: string | null;
  readonly before: string;
}

/** Options that take a script, or the name of a program, wherever they are known. */
const LONG_NAMES = ['eval', 'exec', 'execute', 'command', 'expression', 'print', 'require', 'import', 'file', 'source', 'include', 'load', 'split-string', 'rsh'];
const LONG = /^--([\w-]*)/;
/** What an expression stands behind where it could write more letters of options, or the name of one. */
const OPEN_OPTION = /^-[\w-]*$/;
const SHORT = /^-[A-Za-z0-9]+$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** Variables that say which program or library is run. */
const RUNS_CODE =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELL|SHELLOPTS|PROMPT_COMMAND|EDITOR|VISUAL|BROWSER|\w*PAGER|LESSOPEN|LESSCLOSE|GCONV_PATH|TAR_OPTIONS|RSYNC_RSH|RSYNC_CONNECT_PROG|SSH_ASKPASS|SUDO_ASKPASS|KUBECONFIG|MAKEFLAGS|JAVA_TOOL_OPTIONS|AWKPATH|(?:LD|DYLD|PYTHON|PERL5?|RUBY|NODE|GIT|LUA|PHP|ANSIBLE)_?[A-Z0-9_]*)=/;
/** Before the program that find starts. */
const FOUND = /^-(?:exec|execdir|ok|okdir)$/;

const NO_WORD: ScriptWord = { fixed: '', before: '' };
const SCRIPT = '${…} in a script would let the event write the program; hand it over as an argument, as in ["sh", "-c", "echo \\"$1\\"", "sh", "${event.name}"]';
const PROGRAM = '${…} where a program is named would let the event choose the program; behind a long option write its value with =, and -- before the program';

/** Refuses a command in which `${…}` names the program, or stands in a script, as in `["sh", "-c", "echo ${event.name}"]`. */
export function refuseScript(words: readonly ScriptWord[], refuse: (what: string) => never): void {
  const programs = new Set([0]);
  words.forEach(({ fixed, before }, at) => {
    // Anywhere: a program may be handed on, as in `find … -exec sh -c`.
    if (fixed !== null && runsOpen(words, at, false)) refuse(SCRIPT);
    if (fixed !== null && FOUND.test(fixed)) programs.add(at + 1);
    if (fixed === null && RUNS_CODE.test(before)) refuse(PROGRAM);
  });
  // What a program starts is added while the set is gone through.
  for (const at of programs) {
    if (isOpen(words, at)) refuse(PROGRAM);
    if (runsOpen(words, at, true) || takesScript(words, at)) refuse(SCRIPT);
    const name = programOf(words[at]?.fixed ?? '');
    const closed = rowOf(CLOSED, name);
    if (closed !== undefined && isRefusedBy(closed, words.slice(at + 1))) refuse(closedBy(name, closed));
    for (const next of programsAfter(words, at)) programs.add(next);
  }
}

function closedBy(name: string, { behind }: Closed): string {
  const place = typeof behind === 'object' ? `; it may stand behind ${behind.join(', ')}` : '';
  return `\${…} there could let the event choose or write what ${name} runs${place}`;
}

/** Whether one of the words behind a program that is closed holds an expression where none may be. */
function isRefusedBy({ behind = [], never }: Closed, words: readonly ScriptWord[]): boolean {
  const first = words.findIndex(({ fixed }) => fixed === null);
  if (first < 0) return false;
  if (never !== undefined && words.some(({ fixed, before }) => never.test(fixed ?? before))) return true;
  if (behind === 'any word') return first === 0 && words[0]?.before.startsWith('-') !== true;
  return !words.slice(0, first).some(({ fixed }) => behind.includes(fixed ?? ''));
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
      const isScript = isLong(text, LONG_NAMES) || hasLetter(text, interpreter.script);
      const takesNext = !text.includes('=') && (isScript || hasLast(text, `${interpreter.code ?? ''}${interpreter.values}`));
      if (fixed === null && OPEN_OPTION.test(before)) return true;
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

/** Whether an option is one of these, or an abbreviation, which most programs take too. */
function isLong(text: string, names: readonly string[]): boolean {
  const given = LONG.exec(text)?.[1] ?? '';
  return given !== '' && names.some((name) => name.startsWith(given));
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
  const options = rowOf(SCRIPT_OPTIONS, program);
  const takesNext = ({ fixed }: ScriptWord, index: number): boolean => fixed?.includes('=') === false && isOpen(words, index + 1);
  if (options !== undefined && words.some((word, index) => index > at && isScriptOption(word, options) && (word.fixed === null || takesNext(word, index)))) return true;
  const reading = rowOf(HANDS_TO_SHELL, program);
  return reading !== undefined && operandsAfter(words, at, reading).found.slice(reading.operands).some((index) => isOpen(words, index));
}

function isScriptOption({ fixed, before }: ScriptWord, { letters, long = [] }: ScriptOptions): boolean {
  const text = fixed ?? before;
  if (fixed === null && OPEN_OPTION.test(before)) return true;
  if (LONG.test(text)) return isLong(text, [...LONG_NAMES, ...long]);
  const cluster = /^-([A-Za-z0-9]+)/.exec(text)?.[1] ?? '';
  return Array.from(fixed === null ? cluster : cluster.slice(-1)).some((letter) => letters.includes(letter));
}

/** Which words may name the program that the wrapper at `at` starts; none where it is no wrapper. */
function programsAfter(words: readonly ScriptWord[], at: number): number[] {
  const name = programOf(words[at]?.fixed ?? '');
  const reading = rowOf(WRAPPERS, name);
  if (reading === undefined) return [];
  const splits = ({ fixed, before }: ScriptWord): boolean => /^(?:-[A-Za-z0]*S|--split-string)/.test(fixed ?? before);
  const split = name === 'env' ? words.findIndex((word, index) => index > at && splits(word)) : -1;
  const firstOpen = (from: number, to = words.length): number[] => words.flatMap((_, index) => (index >= from && index < to && isOpen(words, index) ? [index] : [])).slice(0, 1);
  // What it splits may be a program and a script's option: no word behind that is certain to be an argument only.
  if (split >= 0) return firstOpen(split);
  const { found, passed } = operandsAfter(words, at, reading);
  const root = reading.choosesRoot === true ? firstOpen(at + 1, found[reading.operands]) : [];
  // Where a word may be the value of a long option or not, the program stands at one of several places.
  return [...root, ...passed, ...found.slice(passed.length === 0 ? reading.operands : 0, reading.operands + 1)];
}

/**
 * The words behind the program at `at`, without its options, their values and assignments; the first ones are the
 * operands that it keeps for itself. Apart from them those that were passed over as the value of a long option, which
 * may have none.
 */
function operandsAfter(words: readonly ScriptWord[], at: number, { values, operands }: Reading): { found: number[]; passed: number[] } {
  const [found, passed]: [number[], number[]] = [[], []];
  for (let index = at + 1; index < words.length; index += 1) {
    const { fixed, before } = words[index] ?? NO_WORD;
    const text = fixed ?? before;
    const next = words[index + 1]?.fixed ?? null;
    // Behind its first operand nothing is an option of it any more.
    if (found.length > operands || (!text.startsWith('-') && (found.length > 0 || !ASSIGNMENT.test(text)))) found.push(index);
    else if (fixed === null) {
      // What follows could be further letters, or the rest of its name.
      if (OPEN_OPTION.test(before)) passed.push(index);
    } else if (SHORT.test(fixed)) {
      if (values.includes(fixed.slice(-1))) index += 1;
      // Whether a long option takes a value is not known: what comes from the event is not passed over, it could be the program.
    } else if (fixed !== '--' && fixed.startsWith('-') && !fixed.includes('=') && next !== null && !next.startsWith('-')) {
      index += 1;
      passed.push(index);
    }
  }
  return { found, passed };
}

function isOpen(words: readonly ScriptWord[], index: number): boolean {
  return words[index] !== undefined && words[index].fixed === null;
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
