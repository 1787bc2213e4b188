import tree from './tree.json' with { type: 'json' };
import type { VerbBehaviour } from '../../../operations/core/cli-face.ts';
import type { HttpFace, NoFace } from '../../../operations/core/http-face.ts';

/** A flag of a verb, or of every verb. */
export interface Flag {
  /** Without its dashes. */
  readonly name: string;
  /** The input field that it sets; absent if only the command line itself reads it. */
  readonly field?: string;
  readonly type: ValueType;
  /** It makes its field false. */
  readonly off?: true;
  readonly help: string;
  readonly placeholder?: string;
  /** Repeatable; its values make a list. */
  readonly repeat?: true;
  /** With `repeat`: each value is `NAME=VALUE`, and together they make an object. */
  readonly pairs?: true;
  readonly required?: true;
  readonly values?: readonly string[];
  /** Its environment variable, if any. */
  readonly env?: string;
}

export type ValueType = 'string' | 'number' | 'boolean';

export interface Positional {
  readonly field: string;
  readonly type: ValueType;
  readonly required: boolean;
  /** Takes all remaining words. */
  readonly rest?: true;
  readonly values?: readonly string[];
}

/** What a verb calls: a row of the operation table, seen from outside. */
export interface OperationCall extends VerbBehaviour {
  readonly operation: string;
  readonly effect: 'read' | 'stream' | 'write' | 'enqueue';
  readonly http: HttpFace | NoFace;
  /** With `--wait` the request says that its caller follows the job. */
  readonly follows?: true;
}

/** A verb that is a local program: it is not in the operation table and contacts no server. */
interface ProgramCall {
  readonly program: ProgramName;
  /** It takes --remote and --context: it calls operations itself. */
  readonly remote?: true;
}

export type ProgramName =
  | 'serve'
  | 'web'
  | 'migrate'
  | 'backup-restore'
  | 'config-schema'
  | 'config-import'
  | 'context-list'
  | 'context-add'
  | 'context-use'
  | 'context-remove'
  | 'commands'
  | 'completion'
  | 'complete'
  | 'man'
  | 'watch'
  | 'systemd-unit'
  | 'version';

export interface Verb {
  /** Noun and verb, or one word. */
  readonly path: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly positionals: readonly Positional[];
  readonly flags: readonly Flag[];
  readonly call: OperationCall | ProgramCall;
}

export interface Tree {
  /** In the order of the help: nouns with several verbs, and single-word verbs. */
  readonly nouns: readonly { readonly name: string; readonly summary: string }[];
  /** The groups of the overview, each with the names of its nouns as they are written there. */
  readonly groups: readonly { readonly nouns: string; readonly about: string }[];
  readonly globals: readonly Flag[];
  readonly verbs: readonly Verb[];
}

/**
 * The command line as data, made from the operation table by `derive.ts` and kept in tree.json, because loading the
 * table itself (zod, kysely) costs 230 ms against 30 ms of an empty Node: help, completion and remote calls need
 * none of it. A test compares the two; `npm run golden` rewrites the file.
 */
export const TREE: Tree = tree as Tree;

export function verbsOf(tree: Tree, noun: string): readonly Verb[] {
  return tree.verbs.filter((verb) => verb.path === noun || verb.path.startsWith(`${noun} `));
}

/** How a positional is written in usage lines: `ID`, `[COMMAND...]`. */
export function positionalLabel(positional: Positional): string {
  const word = positional.values === undefined ? kebab(positional.field).toUpperCase() : positional.values.join('|');
  const label = positional.rest === true ? `${word}...` : word;
  return positional.required ? label : `[${label}]`;
}

export function kebab(field: string): string {
  return field.replaceAll('_', '-');
}

/** Finds the row that a program itself calls, such as `job get` of `job wait`. */
export function operationVerb(tree: Tree, path: string): Verb & { readonly call: OperationCall } {
  const verb = tree.verbs.find((each) => each.path === path);
  if (verb === undefined || !('operation' in verb.call)) throw new Error(`there is no operation behind svc ${path}`);
  return { ...verb, call: verb.call };
}
