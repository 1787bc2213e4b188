import type * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type HttpFace, pathFields, placeOf } from '../../operations/core/http-face.ts';
import type { Operation } from '../../operations/core/operation.ts';
import { fromText } from '../../operations/core/parse.ts';

/** A name in an error message is cut to this length. */
const NAME_SHOWN_MAX = 80;

/** Where each input field of an operation comes from. A field is taken from its own place only. */
export interface InputPlaces {
  readonly path: readonly string[];
  readonly query: ReadonlyMap<string, z.core.$ZodType>;
  readonly body: ReadonlySet<string>;
  /** Fields of the path that the body may have too, with the same value. */
  readonly repeats: ReadonlySet<string>;
}

export function inputPlaces(operation: Operation, http: HttpFace): InputPlaces {
  const shape: Readonly<Record<string, z.core.$ZodType>> = operation.input.shape;
  const taken = Object.keys(shape).filter((field) => http.omit?.includes(field) !== true);
  const fieldsIn = (place: 'query' | 'body'): string[] => taken.filter((field) => placeOf(http, field) === place);
  const schemaOf = (field: string): z.core.$ZodType => {
    const schema = shape[field];
    if (schema === undefined) throw new Error(`${operation.id} has no input field ${field}`);
    return schema;
  };
  return {
    path: pathFields(http),
    query: new Map(fieldsIn('query').map((field) => [field, schemaOf(field)])),
    body: new Set(fieldsIn('body')),
    repeats: new Set(http.repeats),
  };
}

/**
 * The fields of path and query, converted to the types of the schema if their text has that form. Throws
 * invalid_argument.
 */
export function gatherText(
  places: InputPlaces,
  params: Readonly<Record<string, string | undefined>>,
  query: string,
): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const name of places.path) raw[name] = params[name];
  if (query === '') return raw;
  for (const [name, text] of new URLSearchParams(query)) {
    const schema = places.query.get(name);
    if (schema === undefined) throw new Failure('invalid_argument', `${shown(name)}: no such query parameter here.`);
    if (name in raw) throw new Failure('invalid_argument', `${name}: this query parameter was given more than once.`);
    raw[name] = fromText(schema, text);
  }
  return raw;
}

/** Adds the fields of a body. Throws invalid_argument for one that does not belong there. */
export function gatherBody(
  places: InputPlaces,
  raw: Record<string, unknown>,
  body: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(body)) {
    if (places.repeats.has(name)) requireSame(name, value, raw[name]);
    else if (!places.body.has(name)) throw new Failure('invalid_argument', `${shown(name)}: no such field here.`);
    else raw[name] = value;
  }
}

function requireSame(name: string, value: unknown, inPath: unknown): void {
  if (value !== inPath)
    throw new Failure(
      'invalid_argument',
      `${name}: expected ${JSON.stringify(inPath)}, as in the path, or no such field.`,
    );
}

/** Parses a `Last-Event-ID`. Throws invalid_argument. */
export function sequenceNumber(id: string): number {
  if (!/^\d{1,15}$/.test(id)) throw new Failure('invalid_argument', 'Last-Event-ID: expected a sequence number.');
  return Number(id);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, NAME_SHOWN_MAX));
}
