import { usage } from '../help.ts';
import { type Flag, type Tree, type Verb, verbsOf } from './tree.ts';

/** One command in `svc commands --output json`: the fields that the contract names. */
export interface CommandNode {
  readonly name: string;
  readonly path: string;
  readonly short: string;
  /** At most two, one a line. */
  readonly example: string;
  readonly flags: readonly FlagNode[];
  readonly subcommands: readonly CommandNode[];
}

interface FlagNode {
  readonly name: string;
  readonly type: string;
  readonly short: string;
  readonly required: boolean;
  readonly repeatable: boolean;
  readonly values: readonly string[] | null;
  readonly env: string | null;
}

/** The tree of commands; its root is `svc` with the global flags. */
export function commandTree(tree: Tree): CommandNode {
  return {
    name: 'svc',
    path: 'svc',
    short: 'Queue and run jobs; hold risky ones until another person approves',
    example: '',
    flags: tree.globals.map(flagNode),
    subcommands: tree.nouns.map(({ name, summary }) => {
      const verbs = verbsOf(tree, name);
      const alone = verbs.find((verb) => verb.path === name);
      const subcommands = verbs.filter((verb) => verb !== alone).map((verb) => verbNode(verb, []));
      return alone === undefined
        ? { name, path: `svc ${name}`, short: summary, example: '', flags: [], subcommands }
        : verbNode(alone, subcommands);
    }),
  };
}

function verbNode(verb: Verb, subcommands: readonly CommandNode[]): CommandNode {
  return {
    name: verb.path.split(' ').at(-1) ?? verb.path,
    path: `svc ${verb.path}`,
    short: verb.summary,
    example: verb.examples.slice(0, 2).join('\n'),
    flags: verb.flags.map(flagNode),
    subcommands,
  };
}

function flagNode(flag: Flag): FlagNode {
  return {
    name: flag.name,
    type: flag.type,
    short: flag.help,
    required: flag.required === true,
    repeatable: flag.repeat === true,
    values: flag.values ?? null,
    env: flag.env ?? null,
  };
}

/** Every verb on a line, for people. */
export function commandLines(tree: Tree): string {
  const lines = tree.verbs.map((verb) => [usage(verb), verb.summary] as const);
  const width = lines.reduce((max, [left]) => Math.max(max, left.length), 0);
  return lines.map(([left, right]) => `${left.padEnd(width)}  ${right}\n`).join('');
}
