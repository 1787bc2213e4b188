import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The files of the program on disk. A checkout runs the sources in `src`; the bundle of `npm run bundle` is `dist`,
 * with the same paths below it and JavaScript in place of TypeScript.
 */

const IS_SOURCE = import.meta.filename.endsWith('.ts');
const PACKAGE = findPackageJSON(import.meta.url);
if (PACKAGE === undefined) throw new Error('package.json of the program is missing.');

/** Holds package.json, `bin`, `migrations`, and the program itself. */
export const PROGRAM_ROOT = dirname(PACKAGE);

const CODE = join(PROGRAM_ROOT, IS_SOURCE ? 'src' : 'dist');

/** A file of the program that is no code, named by its path below `src`. */
export function programFile(path: string): string {
  return join(CODE, path);
}

/** A file of a package that the program reads as it is, named by its path below `node_modules`. */
export function packageFile(path: string): string {
  return IS_SOURCE ? join(PROGRAM_ROOT, 'node_modules', path) : join(CODE, 'packages', path);
}

/** The first file of another process or thread, named by its path below `src`, without an extension. */
export function programEntry(path: string): string {
  return join(CODE, `${path}${IS_SOURCE ? '.ts' : '.js'}`);
}
