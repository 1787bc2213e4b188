import * as z from 'zod';
import { environmentTwin, SETTINGS } from '../../../config/settings/settings.ts';
import { HELP_GROUPS, type Noun } from '../../../operations/area.ts';
import { AREAS } from '../../../operations/areas.ts';
import type { CliAlias, CliFace } from '../../../operations/core/cli-face.ts';
import { isNone } from '../../../operations/core/http-face.ts';
import { offHelpOf, wordOf } from '../../../operations/core/fields.ts';
import { type Operation, takesKey } from '../../../operations/core/operation.ts';
import {
  behaviourFlags,
  GLOBAL_FLAGS,
  IDEMPOTENCY_FLAG,
  PAIR_FLAGS,
  PROGRAM_NOUNS,
  PROGRAM_VERBS,
} from '../programs.ts';
import { type Flag, kebab, type Positional, type Tree, type ValueType, type Verb } from './tree.ts';

/** Makes the command tree from the table, the settings and the programs. */
export function deriveTree(operations: readonly Operation[]): Tree {
  const verbs = operations.flatMap((row) => (isNone(row.cli) ? aliasVerbs(row) : [operationVerb(row, row.cli)]));
  const aliases = operations.flatMap((row) => (isNone(row.cli) ? [] : aliasVerbs(row)));
  const programs = PROGRAM_VERBS.map((verb) => ({ ...verb, flags: [...verb.flags, ...settingFlags(verb.path)] }));
  const names = Object.keys(NOUNS).toSorted((a, b) => placeOf(a) - placeOf(b));
  const rank = (verb: Verb): number => names.indexOf(nounOf(verb));
  const all = [...verbs, ...aliases, ...programs];
  const stranger = all.find((verb) => rank(verb) < 0);
  if (stranger !== undefined)
    throw new Error(`svc ${stranger.path}: no area (operations/areas.ts) and no program (programs.ts) has its noun`);
  return {
    nouns: names.map((name) => ({ name, summary: NOUNS[name]?.summary ?? '' })),
    groups: HELP.map(([group, about]) => ({ nouns: nounsOf(group), about })),
    globals: [...settingFlags(null), ...GLOBAL_FLAGS],
    // A stable sort: within a noun the verbs keep the order of the table.
    verbs: all.toSorted((a, b) => rank(a) - rank(b)),
  };
}

/** Of all areas and programs. */
const NOUNS: Readonly<Record<string, Noun>> = Object.assign({}, PROGRAM_NOUNS, ...AREAS.map(({ nouns }) => nouns));
const HELP = Object.entries(HELP_GROUPS);

function placeOf(noun: string): number {
  return NOUNS[noun]?.place ?? 0;
}

function nounsOf(group: string): string {
  const rows = Object.entries(NOUNS).filter(([, { help }]) => help[0] === group);
  const inOrder = rows.toSorted(([, a], [, b]) => a.help[1] - b.help[1]);
  return inOrder.map(([name]) => name).join(', ');
}

function nounOf(verb: Verb): string {
  return verb.path.split(' ')[0] ?? '';
}

interface SettingRow {
  readonly flag: string;
  readonly help: string;
  readonly placeholder?: string;
  readonly isSwitch?: true;
  readonly only?: readonly string[];
  readonly repeat?: true;
}

/** The flags of the settings that only `program` takes, or for null those that every program takes. */
function settingFlags(program: string | null): Flag[] {
  const rows: readonly SettingRow[] = Object.values(SETTINGS);
  return rows
    .filter((row) => (program === null ? row.only === undefined : row.only?.includes(program) === true))
    .map((row) => ({
      name: row.flag,
      type: row.isSwitch === true ? ('boolean' as const) : ('string' as const),
      help: row.help,
      ...(row.placeholder === undefined ? {} : { placeholder: row.placeholder }),
      ...(row.repeat === undefined ? {} : { repeat: true as const }),
      env: environmentTwin(row.flag),
    }));
}

/** The part of JSON Schema that input fields use. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly description?: string;
  readonly default?: unknown;
  /** For an object with free names: the schema of each value. */
  readonly additionalProperties?: FieldSchema | boolean;
}

function aliasVerbs(row: Operation): Verb[] {
  return (row.cli.aliases ?? []).map((face) => operationVerb(row, face));
}

function operationVerb(row: Operation, face: CliFace | CliAlias): Verb {
  const {
    verb,
    summary,
    positionals: given = [],
    omit = [],
    examples,
    aliases: _,
    ...behaviour
  } = { summary: row.summary, aliases: [], ...face };
  const hidden = new Set([...given, ...omit, ...Object.keys(behaviour.preset ?? {})]);
  const schema = z.toJSONSchema(row.input, { io: 'input', unrepresentable: 'any' });
  const fields = Object.entries((schema.properties ?? {}) as Record<string, FieldSchema>);
  const required = new Set(schema.required ?? []);
  return {
    path: verb,
    summary,
    examples,
    positionals: given.map((field) =>
      positional(field, (schema.properties as Record<string, FieldSchema>)[field] ?? {}, required.has(field)),
    ),
    flags: [
      ...fields
        .filter(([field]) => !hidden.has(field))
        .map(
          ([field, each]) => switchOff(row, field) ?? fieldFlag(field, each, required.has(field), wordIn(row, field)),
        ),
      ...behaviourFlags(behaviour),
      ...(takesKey(row) ? [IDEMPOTENCY_FLAG] : []),
    ],
    call: {
      operation: row.id,
      effect: row.effect,
      http: row.http,
      ...('followed' in row.input.shape ? { follows: true } : {}),
      ...behaviour,
    },
  };
}

function positional(field: string, schema: FieldSchema, required: boolean): Positional {
  const { element, repeat } = elementOf(schema);
  return {
    field,
    type: valueType(element),
    required,
    ...(repeat ? { rest: true } : {}),
    ...(element.enum === undefined ? {} : { values: element.enum }),
  };
}

function wordIn(row: Operation, field: string): string | undefined {
  const schema = schemaIn(row, field);
  return schema === undefined ? undefined : wordOf(schema);
}

function schemaIn({ input }: Operation, field: string): z.core.$ZodType | undefined {
  const shape: Readonly<Record<string, z.core.$ZodType>> = input.shape;
  return shape[field];
}

/** Of a field that is true by default: `--no-reveal` makes it false. */
function switchOff(row: Operation, field: string): Flag | undefined {
  const schema = schemaIn(row, field);
  const help = schema === undefined ? undefined : offHelpOf(schema);
  return help === undefined ? undefined : { name: `no-${kebab(field)}`, field, type: 'boolean', off: true, help };
}

function fieldFlag(field: string, schema: FieldSchema, required: boolean, word: string | undefined): Flag {
  if (schema.additionalProperties !== undefined) return pairsFlag(field, required);
  const { element, repeat } = elementOf(schema);
  const name = kebab(repeat ? singular(field) : field);
  const type = valueType(element);
  return {
    name,
    field,
    type,
    help: (schema.description ?? '') + defaultNote(schema.default),
    ...(type === 'boolean' ? {} : { placeholder: type === 'number' ? 'N' : (word ?? name.toUpperCase()) }),
    ...(repeat ? { repeat: true } : {}),
    ...(required ? { required: true } : {}),
    ...(element.enum === undefined ? {} : { values: element.enum }),
  };
}

/**
 * An object of texts, such as `run_secrets`, is given as `--run-secret NAME=VALUE`, as often as it has names.
 */
function pairsFlag(field: string, required: boolean): Flag {
  const words = PAIR_FLAGS[field];
  if (words === undefined) throw new Error(`the field ${field} has no line in PAIR_FLAGS (programs.ts)`);
  return {
    name: kebab(singular(field)),
    field,
    type: 'string',
    ...words,
    repeat: true,
    pairs: true,
    ...(required ? { required: true } : {}),
  };
}

/** `egress_ports` is given as `--egress-port 443 --egress-port 8443`. */
function singular(field: string): string {
  return field.replace(/s$/, '');
}

function elementOf(schema: FieldSchema): { element: FieldSchema; repeat: boolean } {
  return schema.type === 'array' ? { element: schema.items ?? {}, repeat: true } : { element: schema, repeat: false };
}

function valueType(schema: FieldSchema): ValueType {
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  return schema.type === 'boolean' ? 'boolean' : 'string';
}

/** Names a default that has an effect: 0, an empty list and false are not worth a note. */
function defaultNote(standard: unknown): string {
  const text = Array.isArray(standard) ? standard.join(', ') : standard;
  return typeof text === 'string' || typeof text === 'number'
    ? text === '' || text === 0
      ? ''
      : `; default ${text}`
    : '';
}
