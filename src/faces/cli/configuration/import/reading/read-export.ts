import { CONFIG_LIMITS } from '../../../../../domain/configuration/file.ts';
import { Failure } from '../../../../../domain/failure.ts';
import { Fields } from './fields.ts';

/** Throws invalid_argument for a file that is empty or too large. */
export function checkSize(text: string): void {
  if (text.trim() === '') throw new Failure('invalid_argument', 'file: it is empty.');
  if (Buffer.byteLength(text) > CONFIG_LIMITS.bytesMax)
    throw new Failure('invalid_argument', `file: expected at most ${CONFIG_LIMITS.bytesMax} bytes.`);
}

/** The fields of the whole file, of which one must be a list. Throws invalid_argument. */
export function fileFields(value: unknown, list: string): Fields {
  const file = new Fields(typeof value === 'object' && value !== null ? { ...value } : {}, 'file');
  if (!file.isList(list)) throw new Failure('invalid_argument', `file: it has no ${list}.`);
  return file;
}

/** Reads an export in JSON. Throws invalid_argument. */
export function readExport(text: string, list: string): Fields {
  checkSize(text);
  try {
    return fileFields(JSON.parse(text), list);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('invalid_argument', 'file: expected an export in JSON.');
  }
}
