import { Failure } from '../failure.ts';
import { lineOf } from '../yaml/fields.ts';
import type { YamlValue } from '../yaml/file.ts';
import type { FileEntry } from './file.ts';

/** A field at the beginning of a message: `targets.3: `. */
const FIELD = /^([a-z_]+(?:\.\w+)*): /;
/** The same with its line. */
const PLACED = /^["\w.[\]-]+ \(line /;

/**
 * The refusal of an object with its section, its name and its place in the file: that of the field which the message
 * begins with, else that of the object. Other errors stay as they are.
 */
export function placed(error: unknown, { section, name, map }: FileEntry): unknown {
  if (!(error instanceof Failure) || error.code === 'internal') return error;
  const { message } = error;
  const object = `${section}.${name}`;
  if (PLACED.test(message)) return new Failure(error.code, `${object}.${message}`);
  const field = FIELD.exec(message)?.[1];
  const value = field === undefined ? undefined : valueAt(map, field.split('.'));
  if (field === undefined || value === undefined) return new Failure(error.code, `${object}${lineOf(map)}: ${message}`);
  return new Failure(error.code, `${object}.${field}${lineOf(value)}: ${message.slice(field.length + 2)}`);
}

/** The value at a path, or the last one on the way to it. Undefined where the first step leads nowhere. */
function valueAt(map: YamlValue, [step, ...path]: readonly string[]): YamlValue | undefined {
  if (step === undefined) return map;
  const next = map.kind === 'map' ? map.fields.get(step) : map.kind === 'list' ? map.items[Number(step)] : undefined;
  return next === undefined ? undefined : (valueAt(next, path) ?? next);
}
