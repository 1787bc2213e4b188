import { Failure } from '../domain/failure.ts';
import { errorCode, wordsOfCode } from '../lib/error-code.ts';
import { SchemaMismatch } from '../store/engine/migrate.ts';

/**
 * The reason of a failure without values: texts of foreign errors may contain URLs, paths, names or rows, so only
 * messages of this program are passed on; of other errors the kind is named.
 */
export function plainReason(error: unknown): string {
  if (error instanceof Failure || error instanceof SchemaMismatch) return error.message.replace(/\.$/, '');
  if (!(error instanceof Error)) return 'an unexpected error';
  // node:sqlite: the text that SQLite has for the error number, such as "database disk image is malformed".
  if ('errstr' in error && typeof error.errstr === 'string') return error.errstr;
  const code = codeOf(error);
  if (code === null) return `an unexpected error (${error.name})`;
  return wordsOfCode(code);
}

/** The code of a system or database error, such as ENOENT or 28P01; null for others. */
export function codeOf(error: unknown): string | null {
  const code = errorCode(error);
  return code !== null && /^[A-Z0-9_]{1,40}$/.test(code) ? code : null;
}
