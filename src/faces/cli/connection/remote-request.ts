import { Failure } from '../../../domain/failure.ts';
import { type HttpFace, pathFields, placeOf } from '../../../operations/core/http-face.ts';
import type { Fields } from '../syntax/arguments.ts';
import { type Flag, kebab, type OperationCall, type Verb } from '../syntax/tree.ts';

/** An operation's fields, each in the place where the HTTP face reads it. */
export interface Placed {
  readonly method: HttpFace['method'];
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body?: string;
}

/** Segments that a URL parser removes: the request would have another path. */
const DOTS = /^\.{1,2}$/;

export function place(http: HttpFace, fields: Fields): Placed {
  const { method } = http;
  let { path }: { path: string } = http;
  for (const field of pathFields(http))
    path = path.replace(`{${field}}`, () => encodeURIComponent(asText(fields[field])));
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const where = placeOf(http, field);
    if (where === 'query') query.append(field, asText(value));
    else if (where === 'body') body[field] = value;
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return {
    method,
    path: `/api/v1${path}${search}`,
    ...(Object.keys(body).length === 0 ? {} : { body: JSON.stringify(body) }),
  };
}

/** A list cannot be in a path or a query, where a name may occur once. */
function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/**
 * Refuses values that cannot be a path segment, on the data directory as well as over HTTP, with the same words.
 */
export function checkPathFields({ http }: OperationCall, fields: Fields): void {
  if ('none' in http) return;
  for (const field of pathFields(http)) {
    // One that may be left out: `requireRoute` refuses that for a request from afar.
    if (fields[field] === undefined) continue;
    const text = asText(fields[field]);
    if (text === '' || DOTS.test(text)) throw new Failure('invalid_argument', `${field}: expected an id or a name.`);
  }
}

/** Refuses an operation or field without a route, before any connection. */
export function requireRoute(verb: Verb, { http }: OperationCall, fields: Fields): void {
  if ('none' in http) throw noRoute(`svc ${verb.path}`, http.none);
  const omitted = http.omit?.find((field) => field in fields);
  const missing = pathFields(http).find((field) => fields[field] === undefined);
  if (missing !== undefined) throw noRoute(`svc ${verb.path} without ${missing.toUpperCase()}`, 'Name it.');
  if (omitted !== undefined) throw noRoute(flagOf(verb.flags, omitted), 'Use it on the machine of the service.');
}

function flagOf(flags: readonly Flag[], field: string): string {
  return `--${flags.find((flag) => flag.field === field)?.name ?? kebab(field)}`;
}

export function noRoute(what: string, why?: string): Failure {
  return new Failure('not_implemented', `${what} is not available with --remote.${why === undefined ? '' : ` ${why}`}`);
}
