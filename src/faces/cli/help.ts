import { wrapped } from '../text/wrap.ts';
import { FLAGS_TOPIC } from './syntax/arguments.ts';
import { GROUPS } from './programs.ts';
import { type Flag, type Positional, positionalLabel, type Tree, type Verb, verbsOf } from './syntax/tree.ts';

/**
 * Help for the program, a noun or a verb, for a terminal of `width` columns; null for any width. Ends with a line end;
 * null if the topic is unknown.
 */
export function help(tree: Tree, topic: string, width: number | null = null): string | null {
  if (topic === '') return overview(tree, width);
  if (topic === FLAGS_TOPIC) return `Global flags:\n${flagLines(tree.globals, width)}`;
  const verbs = verbsOf(tree, topic);
  const exact = verbs.find((verb) => verb.path === topic);
  if (exact !== undefined) return ofVerb(exact, width);
  return verbs.length === 0 ? null : ofNoun(tree, topic, verbs, width);
}

const FIRST_EXAMPLES = ['svc serve', 'svc command run --inventory localhost --wait -- uptime'];

/** At most 24 lines, to fit one screen; `svc help flags` explains the global flags. */
function overview(tree: Tree, width: number | null): string {
  return [
    ...wrapped('Gatehouse queues and runs jobs. Risky ones wait until another person says yes.', width),
    '',
    ...FIRST_EXAMPLES.map((example) => `  ${example}`),
    '',
    'Usage: svc COMMAND [VERB] [ARGUMENT...] [--flag...]',
    '',
    columns(
      tree.groups.map(({ nouns, about }) => [nouns, about]),
      width,
    ),
    ...wrapped('More: svc COMMAND --help, and svc help flags for the global flags.', width),
    '',
  ].join('\n');
}

function ofNoun(tree: Tree, noun: string, verbs: readonly Verb[], width: number | null): string {
  const summary = tree.nouns.find(({ name }) => name === noun)?.summary ?? GROUPS[noun] ?? '';
  return [
    ...wrapped(`svc ${noun}: ${summary}`, width),
    '',
    ...verbs
      .flatMap((verb) => verb.examples)
      .slice(0, 2)
      .map((example) => `  ${example}`),
    '',
    `Usage: svc ${noun} VERB [ARGUMENT...] [--flag...]`,
    '',
    columns(
      verbs.map((verb) => [verb.path.slice(noun.length + 1), verb.summary]),
      width,
    ).trimEnd(),
    '',
    `More: svc ${noun} VERB --help`,
    '',
  ].join('\n');
}

function ofVerb(verb: Verb, width: number | null): string {
  const flags = verb.flags.length === 0 ? '' : `\nFlags:\n${flagLines(verb.flags, width)}`;
  const fitted = (text: string): string => wrapped(text, width).join('\n');
  const examples = verb.examples
    .slice(0, 2)
    .map((example) => `  ${example}\n`)
    .join('');
  return (
    `${fitted(`svc ${verb.path}: ${verb.summary}`)}\n\n${examples}\n${fitted(`Usage: ${usage(verb)}`)}\n${flags}\n` +
    fitted(confirmationText(verb)) +
    'svc help flags shows the global flags.\n'
  );
}

/** What the verb asks before it does anything, and what takes the place of the answer. */
export function confirmationText({ call, flags }: Verb): string {
  const confirm = 'operation' in call ? call.confirm : undefined;
  if (confirm === undefined) return '';
  const flagOf = (field: string): string => flags.find((flag) => flag.field === field)?.name ?? field;
  switch (confirm.by) {
    case 'yes': {
      const unless = confirm.preview === undefined ? '' : `, except with --${flagOf(confirm.preview)}`;
      return `Asks for a yes${unless}; without a terminal it needs --yes.\n\n`;
    }
    case 'name':
      return 'Asks for the name; without a terminal it needs --yes.\n\n';
    case 'plan':
      return 'At a terminal it asks for the name of the workspace if the plan destroys anything; --yes answers.\n\n';
    case 'host-keys':
      return `Asks for a yes; without a terminal it needs --yes or --${flagOf(confirm.field)}.\n\n`;
  }
}

export function usage(verb: Verb): string {
  const required = verb.flags
    .filter((flag) => flag.required === true)
    .map((flag) => ` --${flag.name} ${flag.placeholder ?? ''}`.trimEnd());
  const optional = verb.flags.some((flag) => flag.required !== true) ? ' [--flag...]' : '';
  // Words that may begin with a dash come last, after the separator.
  const words = verb.positionals.map((positional) =>
    positional.rest === true ? restLabel(positional) : ` ${positionalLabel(positional)}`,
  );
  return `svc ${verb.path}${required.join('')}${optional}${words.join('')}`;
}

function restLabel(positional: Positional): string {
  const label = positionalLabel({ ...positional, required: true });
  return positional.required ? ` -- ${label}` : ` [-- ${label}]`;
}

function flagLines(flags: readonly Flag[], width: number | null): string {
  return columns(
    flags.map((flag) => [flagLabel(flag), flagText(flag)]),
    width,
  );
}

export function flagLabel({ name, placeholder }: Flag): string {
  return `--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`;
}

export function flagText(flag: Flag): string {
  const notes = [
    ...(flag.values === undefined ? [] : [`one of ${flag.values.join(', ')}`]),
    ...(flag.required === true ? ['required'] : []),
    ...(flag.env === undefined ? [] : [`variable ${flag.env}`]),
  ];
  return flag.help + (notes.length === 0 ? '' : ` (${notes.join('; ')})`);
}

/** The right column is wrapped below itself. */
function columns(rows: readonly (readonly [left: string, right: string])[], width: number | null): string {
  const least = rows.reduce((max, [left]) => Math.max(max, left.length), 0);
  const indent = ' '.repeat(least + 4);
  const room = width === null ? null : width - indent.length;
  return rows
    .map(([left, right]) => `  ${left.padEnd(least)}  ${wrapped(right, room).join(`\n${indent}`)}`.trimEnd() + '\n')
    .join('');
}
