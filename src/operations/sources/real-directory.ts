import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';

/**
 * The directory that a person names now, without links in its path: a link is followed once, at this moment. Relative
 * to where the command line runs, because the daemon has another working directory. Throws invalid_argument.
 */
export async function realDirectory(dir: string): Promise<string> {
  const path = resolve(dir);
  // One that does not exist is refused when it is opened.
  const real = await realpath(path).catch(() => path);
  if (/\p{Cc}/u.test(real))
    throw new Failure('invalid_argument', 'dir: a control character is not allowed, also not where a link leads.');
  return real;
}
