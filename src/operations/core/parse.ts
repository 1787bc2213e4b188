import type * as z from 'zod';
import { Failure } from '../../domain/failure.ts';

const FIELDS_NAMED = 3;

/** Parses an input strictly. Throws invalid_argument that names the field and what was expected. */
export function parseInput<I extends z.ZodObject>(schema: I, raw: unknown): z.output<I> {
  refuseUnstorable(raw, []);
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const messages = result.error.issues.slice(0, FIELDS_NAMED).map((issue) => describe(issue, raw));
  throw new Failure('invalid_argument', messages.join(' '));
}

/**
 * Refuses text that cannot be stored and passed on unchanged: NUL ends an argument and is refused by PostgreSQL, and
 * half a surrogate pair has no UTF-8 form.
 */
function refuseUnstorable(value: unknown, path: readonly string[]): void {
  if (typeof value === 'string') {
    const fault = value.includes('\0') ? 'a NUL character' : value.isWellFormed() ? null : 'half a surrogate pair';
    if (fault !== null)
      throw new Failure('invalid_argument', `${path.join('.') || 'The input'}: ${fault} is not allowed.`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      refuseUnstorable(key, path);
      refuseUnstorable(each, [...path, key]);
    }
  }
}

function describe(issue: z.core.$ZodIssue, raw: unknown): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, FIELDS_NAMED).map((key) => JSON.stringify(key.slice(0, 80)));
    return `${keys.join(', ')}: no such field here.`;
  }
  if (issue.code === 'invalid_type' && path !== '' && valueAt(raw, issue.path) === undefined)
    return `${path}: this field is required.`;
  if (issue.code === 'invalid_type' && GIVEN.test(issue.message)) return `${path}: ${typeFault(issue, raw)}.`;
  const text = issue.message.replace(/^Invalid input: /, '').replace(/[.]$/, '');
  return path === '' ? `The body: ${text}.` : `${path}: ${text}.`;
}

/** The message of the library, where a field has none. */
const GIVEN = /^Invalid input: expected \w+, received /;
const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function typeFault({ expected, path }: z.core.$ZodIssueInvalidType, raw: unknown): string {
  const value = valueAt(raw, path);
  const given = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const wanted = `expected ${TYPES[expected] ?? expected}`;
  return given === 'boolean' ? `${wanted}, not ${String(value)}` : `${wanted}, not ${TYPES[given] ?? given}`;
}

/** The value at the path of an issue, to distinguish a missing field from one of the wrong type. */
function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    raw,
  );
}

interface FieldType {
  readonly type: string;
  /** Of an array. */
  readonly element?: z.core.$ZodType;
}

/** Looks through optional, default, and pipes for what a field is made of. */
export function innerType(schema: z.core.$ZodType): FieldType {
  const inner = wrapped(schema);
  return inner === undefined ? schema._zod.def : innerType(inner);
}

/** What an optional field, one with a default, or a pipe is made of; undefined for other fields. */
export function wrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const def = schema._zod.def as FieldType & { innerType?: z.core.$ZodType; in?: z.core.$ZodType };
  return def.innerType ?? (def.type === 'pipe' ? def.in : undefined);
}

/**
 * Turns the text of a query parameter or a flag into the field's type. Text of another form stays text: the
 * schema then refuses it and names the field.
 */
export function fromText(schema: z.core.$ZodType, text: string): unknown {
  const { type } = innerType(schema);
  if (type === 'number' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && ['true', '1'].includes(text)) return true;
  return type === 'boolean' && ['false', '0'].includes(text) ? false : text;
}
