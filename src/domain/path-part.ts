import { join } from 'node:path';
import { isId } from '../lib/id.ts';
import { Failure } from './failure.ts';
import { NAME } from './name.ts';

declare const CHECKED: unique symbol;

/**
 * The name of one entry of a folder. Ids, names and digests come from rows of the database, where anybody who can write
 * them puts what they like; only the checks below make this type of them, and paths are joined from nothing else.
 */
export type PathPart = string & { readonly [CHECKED]: true };

/** No separator, no control character, nothing that a program takes for an option, and neither `.` nor `..`. */
const PART = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** Room for what the service puts before and behind it: the kernel takes 255 bytes. */
const PART_CHARACTERS_MAX = 200;
/** What the service itself puts before or behind a part. */
const AFFIX = /^[A-Za-z0-9._-]*$/;

/** Throws forbidden, with a sentence for the job's output, unless it is a part. `what`: as in "id of this job". */
export function pathPart(what: string, text: string): PathPart {
  if (!isPathPart(text)) throw malformed(what);
  return text;
}

function isPathPart(text: string): text is PathPart {
  return text.length <= PART_CHARACTERS_MAX && PART.test(text);
}

/** An id as `newId` makes it; null for every other text. */
export function idPartIn(prefix: string, text: string): PathPart | null {
  return isId(prefix, text) && isPathPart(text) ? text : null;
}

/** Throws forbidden, with a sentence for the job's output. */
export function jobIdPart(id: string): PathPart {
  const part = idPartIn('job', id);
  if (part === null) throw malformed('id of this job');
  return part;
}

/** For a name that a person gave. */
export function namePart(what: string, name: string): PathPart {
  if (!NAME.test(name)) throw malformed(what);
  return pathPart(what, name);
}

/** A part with what the service puts before and behind it. */
export function affixed(before: string, part: PathPart, behind = ''): PathPart {
  if (!AFFIX.test(before) || !AFFIX.test(behind)) throw new Error('expected a part of the name of an entry');
  return `${before}${part}${behind}` as PathPart;
}

/** The path of an entry of a folder. */
export function entryPath(folder: string, part: PathPart): string {
  return join(folder, part);
}

function malformed(what: string): Failure {
  return new Failure('forbidden', `Integrity: the ${what} is malformed. Nothing was run.`);
}
