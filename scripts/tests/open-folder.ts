/**
 * Puts what jobs of the tests run into a folder that their account can reach. A daemon of root runs jobs as another
 * account, which does not get through a clone below `/root` or another closed folder.
 */
import { accessSync, chmodSync, constants, copyFileSync, linkSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode, wordsOfCode } from '../../src/lib/error-code.ts';

/** Where temporary files lie on most systems, in place of a closed folder that TMPDIR names. */
const OTHER_FOLDERS = ['/tmp', '/var/tmp'];
/** Others may pass through a folder. */
const PASS = 0o001;
/** Others may read and run a file. */
const RUN = 0o005;

/** The folder on the way to `path`, itself included, that lets no other account through; null where none does. */
export function closedFolder(path: string): string | null {
  if (process.getuid?.() !== 0) return null;
  const above = dirname(path);
  const closed = above === path ? null : closedFolder(above);
  return closed ?? ((statSync(path).mode & PASS) === 0 ? path : null);
}

/** The folder for temporary files. Throws an error with a sentence where nothing can be made in it. */
export function temporaryFolder(): string {
  const folder = tmpdir();
  try {
    // As a folder.
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
    return realpathSync(folder);
  } catch (error) {
    throw new Error(
      `The folder for temporary files, ${folder}, cannot be used: ${wordsOfCode(errorCode(error) ?? '')}. Set TMPDIR ` +
        'to a directory in which files can be made.',
      { cause: error },
    );
  }
}

/** A folder for temporary files that every account reaches; without one, the usual folder. */
export function openTemporaryFolder(): string {
  const usual = temporaryFolder();
  const folders = [usual, ...OTHER_FOLDERS];
  return folders.find((folder) => isThere(folder) && closedFolder(folder) === null) ?? usual;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Makes the program `file` available in `folder`, which is made, and answers its path there: as a link where that is
 * possible, because these programs have up to 150 MB.
 */
export function placeProgram(file: string, folder: string): string {
  const from = realpathSync(file);
  const to = join(folder, basename(file));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  if ((statSync(from).mode & RUN) !== RUN || !link(from, to)) {
    copyFileSync(from, to);
    chmodSync(to, 0o755);
  }
  return to;
}

/** Not across file systems, and not for a file of another account where the kernel protects those. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}
