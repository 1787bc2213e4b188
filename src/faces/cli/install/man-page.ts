import { FAILURES, type FailureCode, failureRow } from '../../../domain/failure.ts';
import { confirmationText, flagLabel, flagText, usage } from '../help.ts';
import type { Flag, Tree, Verb } from '../syntax/tree.ts';
import { verbsOf } from '../syntax/tree.ts';

/** The manual page svc(1) in roff, from the same tree as the help. Ends with a line end. */
export function manPage(tree: Tree, version: string): string {
  return [
    `.TH SVC 1 "" "Gatehouse ${plain(version)}" "Gatehouse"`,
    '.SH NAME',
    String.raw`svc \- queue and run jobs; hold risky ones until another person approves`,
    '.SH SYNOPSIS',
    '.B svc',
    '.I COMMAND',
    String.raw`[VERB] [ARGUMENT...] [\-\-flag...]`,
    '.SH DESCRIPTION',
    ...DESCRIPTION.flatMap((text) => ['.PP', plain(text)]),
    '.SH GLOBAL FLAGS',
    ...flags(tree.globals),
    ...tree.nouns.flatMap(({ name, summary }) => [
      `.SH ${heading(name)}`,
      plain(`${summary}.`),
      ...verbsOf(tree, name).flatMap(verbLines),
    ]),
    '.SH EXIT STATUS',
    ...exits().flatMap(([code, text]) => ['.TP', `.B ${code}`, plain(text)]),
    '.SH FILES',
    ...FILES.flatMap(([path, text]) => ['.TP', `.I ${plain(path)}`, plain(text)]),
    '',
  ].join('\n');
}

const DESCRIPTION = [
  'Standard output is the answer; standard error has progress, hints, questions and errors. With --output json the ' +
    'answer is the envelope of the API, also for an error.',
  'Without --remote or --context the verbs work on the data directory of this machine.',
];

const FILES = [
  ['$XDG_DATA_HOME/gatehouse', 'The data directory, if --data-dir names no other.'],
  ['$XDG_CONFIG_HOME/gatehouse/contexts', 'The contexts, see svc context.'],
] as const;

function verbLines(verb: Verb): string[] {
  const confirmation = confirmationText(verb).trim();
  return [
    `.SS ${heading(`svc ${verb.path}`)}`,
    plain(`${verb.summary}.`),
    '.PP',
    `.B ${plain(usage(verb))}`,
    ...flags(verb.flags),
    ...(confirmation === '' ? [] : ['.PP', plain(confirmation)]),
    ...(verb.examples.length === 0 ? [] : ['.PP', 'Examples:', '.PP', '.RS 4', '.nf']),
    ...verb.examples.map(plain),
    ...(verb.examples.length === 0 ? [] : ['.fi', '.RE']),
  ];
}

function flags(all: readonly Flag[]): string[] {
  return all.flatMap((flag) => ['.TP', `.B ${plain(flagLabel(flag))}`, plain(`${flagText(flag)}.`)]);
}

/** One line for each exit code, with the errors that have it. */
function exits(): (readonly [code: number, text: string])[] {
  const codes = Object.keys(FAILURES) as FailureCode[];
  const numbers = [...new Set(codes.map((code) => failureRow(code).exit))].toSorted((a, b) => a - b);
  const named = numbers.map(
    (exit) => [exit, `${codes.filter((code) => failureRow(code).exit === exit).join(', ')}.`] as const,
  );
  return [
    [0, 'Success. With --wait, and for svc job wait, the exit code is that of the job.'],
    ...named,
    [130, 'Ended by Ctrl-C.'],
  ];
}

/** Text of one line, as roff shows it unchanged: a dash is a dash, and no line is a request. */
function plain(text: string): string {
  const escaped = text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(/[^\n -~]/gu, (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`);
  return /^[.']/.test(escaped) ? String.raw`\&` + escaped : escaped;
}

function heading(text: string): string {
  return plain(text).replaceAll('"', '');
}
