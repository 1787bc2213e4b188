/**
 * Where a word of a command is a program or a script, so that text of an event must not stand there: whoever sends the
 * event would write what is run. The programs are those that rules are likely to call; of others nothing is known here.
 * Where it can not be told whether a word is the value of an option or the program, it is taken for the worse.
 */
import { CLOSED, type Closed, type VerbOptions } from './rule-closed.ts';
import { HANDS_TO_SHELL, type Interpreter, INTERPRETERS, type Reading, rowOf, SCRIPT_OPTIONS, type ScriptOptions, VARIABLES, WRAPPERS } from './rule-programs.ts';

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
/** What it stands behind where it writes the name of an option with any program. */
const OPTION_NAME = /^-(?:-[\w-]*)?$/;
const SHORT = /^-[A-Za-z0-9]+$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** Before the program that find starts. */
const FOUND = /^-(?:exec|execdir|ok|okdir)$/;

const NO_WORD: ScriptWord = { fixed: '', before: '' };
const SCRIPT = '${…} in a script would let the event write the program; hand it over as an argument behind a script that is written out, with only plain short options before that, as in ["sh", "-c", "echo \\"$1\\"", "sh", "${event.name}"]';
const PROGRAM = '${…} where a program is named would let the event choose the program; behind a long option write its value with =, and -- before the program';
const OPTION = '${…} there would let the event write the name of an option; write its value with =, or as a word of its own';

/** Refuses a command in which `${…}` names the program, or stands in a script, as in `["sh", "-c", "echo ${event.name}"]`. */
export function refuseScript(words: readonly ScriptWord[], refuse: (what: string) => never): void {
  const programs = new Set([0]);
  words.forEach(({ fixed, before }, at) => {
    // Anywhere: a program may be handed on, as in `find … -exec sh -c`.
    if (fixed !== null && runsOpen(words, at, false)) refuse(SCRIPT);
    if (fixed !== null && FOUND.test(fixed)) programs.add(at + 1);
    if (fixed === null && VARIABLES.test(before)) refuse(PROGRAM);
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
  if (words.some(({ fixed, before }) => fixed === null && OPTION_NAME.test(before))) refuse(OPTION);
}

function closedBy(name: string, { behind, addresses, servers }: Closed): string {
  const address = addresses === undefined ? '' : '; of an address write the beginning, as in https://host/${…}';
  const place = typeof behind === 'object' ? `; it may stand behind ${behind.join(', ')}${address}` : '';
  return `\${…} there could let the event choose or write what ${name} runs${servers === undefined ? '' : ', or on which server'}${place}`;
}

/** Whether one of the words behind a program that is closed holds an expression where none may be. */
function isRefusedBy({ behind = [], never, options, servers, addresses }: Closed, words: readonly ScriptWord[]): boolean {
  const first = words.findIndex(({ fixed }) => fixed === null);
  if (first < 0) return false;
  if (never !== undefined && words.some(({ fixed, before }) => never.test(fixed ?? before))) return true;
  if (servers !== undefined && openValues(words, 0, words.length, servers).length > 0) return true;
  if (behind === 'any word') return first === 0 && words[0]?.before.startsWith('-') !== true;
  const isAddress = addresses !== undefined && words.some(({ fixed }) => addresses.words.test(fixed ?? ''));
  if (isAddress && words.some(({ fixed, before }) => fixed === null && !addresses.before.test(before))) return true;
  const front = words.slice(0, first).map(({ fixed }) => fixed ?? '');
  const verbs = options === undefined ? front : verbOf(front, options);
  return !verbs.some((verb) => behind.includes(verb));
}

/** The verb in words before the first expression: what is no option, no value of one and no group. None where an option is not known. */
function verbOf(front: readonly string[], { flags, values, groups = [] }: VerbOptions): string[] {
  let isGrouped = false;
  for (let index = 0; index < front.length; index += 1) {
    const word = front[index] ?? '';
    if (values?.test(word) === true) index += 1;
    else if (word.startsWith('-')) {
      if (!flags.test(word) && !/^--[\w-]+=/.test(word)) return [];
    } else if (isGrouped || !groups.includes(word)) return [word];
    else isGrouped = true;
  }
  return [];
}

/** What the words of an interpreter that were read so far say of those behind them. */
interface Read {
  hasScript: boolean;
  /** Whether one of its options hands over code. */
  hasCode: boolean;
  /** Whether the next word may be the value of an option or not. */
  isUnsure: boolean;
}

/**
 * Whether the interpreter at `at` gets a script that holds an expression. With `isProgram` it is certain to be run: then
 * neither its script's file may come from the event, nor any word behind an option that is not known of it. Else its name
 * is an argument more often than a program.
 */
function runsOpen(words: readonly ScriptWord[], at: number, isProgram: boolean): boolean {
  const program = programOf(words[at]?.fixed ?? '');
  const row = INTERPRETERS.find(({ names }) => names.test(program));
  if (row === undefined) return false;
  const read: Read = { hasScript: false, hasCode: false, isUnsure: false };
  const anyOpen = (from: number): boolean => words.some((_, index) => index >= from && isOpen(words, index));
  let isEnded = false;
  for (let index = at + 1; index < words.length; index += 1) {
    const { fixed, before } = words[index] ?? NO_WORD;
    const text = fixed ?? before;
    if (!isEnded && fixed === '--' && row.needsOption === undefined) {
      isEnded = true;
    } else if (!isEnded && (text.startsWith('-') || (row.hasPlus === true && text.startsWith('+')))) {
      const step = optionAt(words, index, row, read);
      if (step === 'script' || (step === 'unknown' && isProgram && anyOpen(index))) return true;
      if (step === 'ends') return false;
      if (step === 'two words') index += 1;
    } else if (read.hasScript || fixed !== null) {
      if (!read.hasScript && row.needsOption === true) return isProgram && anyOpen(index);
      // Where the word may be the value of an option, or is a verb, the script is still to come.
      read.hasScript ||= !read.isUnsure && row.verbs?.test(text) !== true;
      if (read.hasScript && row.goesOn === undefined) return false;
    } else return isProgram || row.isText === true || read.hasCode;
  }
  return false;
}

/** What one option of an interpreter does; `script`: it hands over code that holds an expression. */
function optionAt(words: readonly ScriptWord[], index: number, row: Interpreter, read: Read): 'script' | 'unknown' | 'ends' | 'one word' | 'two words' {
  const { fixed, before } = words[index] ?? NO_WORD;
  const text = fixed ?? before;
  const next = text.includes('=') ? undefined : words[index + 1];
  const isCode = hasLetter(text, row.code) || isLong(text, LONG_NAMES);
  const kind = fixed === null ? null : kindOf(fixed, row);
  if (fixed === null) {
    if (row.assigns !== undefined && text.startsWith(`-${row.assigns}`) && ASSIGNMENT.test(text.slice(2))) return 'one word';
    if (isCode || OPEN_OPTION.test(before)) return 'script';
  }
  if (isCode && next?.fixed === null) return 'script';
  read.hasCode ||= isCode;
  if (kind === 'flag') return 'one word';
  const isValue = next === undefined || (next.fixed === null ? kind === 'assigns' && ASSIGNMENT.test(next.before) : !/^[-+]/.test(next.fixed));
  if (kind === null || !isValue) {
    read.isUnsure = true;
    return 'unknown';
  }
  if (kind === 'script') {
    read.hasScript = true;
    if (row.scriptEnds === true) return 'ends';
  }
  return next === undefined ? 'one word' : 'two words';
}

/** What is known of a fixed option, or null. Of a cluster all letters have to be known, and only the last takes a word. */
function kindOf(text: string, row: Interpreter): 'flag' | 'value' | 'assigns' | 'script' | null {
  if (row.plain?.test(text) === true) return 'flag';
  if (row.scriptWords?.test(text) === true) return 'script';
  if (row.needsOption === undefined && /^--[\w-]+=/.test(text)) return 'flag';
  const cluster = Array.from(/^[-+]([A-Za-z0-9]+)$/.exec(text)?.[1] ?? '');
  const last = cluster.pop();
  if (last === undefined || !cluster.every((letter) => row.flags.includes(letter))) return null;
  if (row.flags.includes(last)) return 'flag';
  if (row.values?.includes(last) === true) return 'value';
  if (row.script?.includes(last) === true) return 'script';
  return row.assigns === last ? 'assigns' : null;
}

/** Whether an option is one of these, or an abbreviation, which most programs take too. */
function isLong(text: string, names: readonly string[]): boolean {
  const given = LONG.exec(text)?.[1] ?? '';
  return given !== '' && names.some((name) => name.startsWith(given));
}

/** Whether a cluster of short options has one of these letters, as `-euc` or `-0777ne`; a value may follow in the same word. */
function hasLetter(text: string, letters: string): boolean {
  const cluster = /^[-+]([A-Za-z0-9]+)/.exec(text)?.[1] ?? '';
  return Array.from(cluster).some((letter) => letters.includes(letter));
}

/** Whether a word behind the program at `at` that holds an expression is a script to it. */
function takesScript(words: readonly ScriptWord[], at: number): boolean {
  const program = programOf(words[at]?.fixed ?? '');
  const options = rowOf(SCRIPT_OPTIONS, program);
  if (options !== undefined && openValues(words, at + 1, words.length, options).length > 0) return true;
  const reading = rowOf(HANDS_TO_SHELL, program);
  return reading !== undefined && operandsAfter(words, at, reading).found.slice(reading.operands).some((index) => isOpen(words, index));
}

/** Which words from one to another hold an expression in the value of such an option; the value may be the next word. */
function openValues(words: readonly ScriptWord[], from: number, to: number, options: ScriptOptions): number[] {
  return words.slice(from, to).flatMap((word, offset) => {
    if (!isScriptOption(word, options)) return [];
    const value = word.fixed === null ? from + offset : from + offset + 1;
    return isOpen(words, value) && word.fixed?.includes('=') !== true ? [value] : [];
  });
}

function isScriptOption({ fixed, before }: ScriptWord, { letters, long = [], onlyThese }: ScriptOptions): boolean {
  const text = fixed ?? before;
  if (fixed === null && OPEN_OPTION.test(before)) return true;
  if (LONG.test(text)) return isLong(text, onlyThese === true ? long : [...LONG_NAMES, ...long]);
  const cluster = /^-([A-Za-z0-9]+)/.exec(text)?.[1] ?? '';
  return Array.from(fixed === null ? cluster : cluster.slice(-1)).some((letter) => letters.includes(letter));
}

/** Which words may name the program that the wrapper at `at` starts; none where it is no wrapper. */
function programsAfter(words: readonly ScriptWord[], at: number): number[] {
  const name = programOf(words[at]?.fixed ?? '');
  const reading = rowOf(WRAPPERS, name);
  if (reading === undefined || (reading.verb !== undefined && words[at + 1]?.fixed !== reading.verb)) return [];
  const splits = ({ fixed, before }: ScriptWord): boolean => /^(?:-[A-Za-z0]*S|--split-string)/.test(fixed ?? before);
  const split = name === 'env' ? words.findIndex((word, index) => index > at && splits(word)) : -1;
  const firstOpen = (from: number, to = words.length): number[] => words.flatMap((_, index) => (index >= from && index < to && isOpen(words, index) ? [index] : [])).slice(0, 1);
  // What it splits may be a program and a script's option: no word behind that is certain to be an argument only.
  if (split >= 0) return firstOpen(split);
  const { found, passed } = operandsAfter(words, at, reading);
  const end = found[reading.operands];
  const root = reading.choosesRoot === true ? firstOpen(at + 1, end) : [];
  if (reading.places !== undefined) root.push(...openValues(words, at + 1, end ?? words.length, reading.places));
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
