/** The documents of the program: Markdown files in the folder `docs` of a checkout or an installed package. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { PROGRAM_ROOT } from '../../../lib/files/program-files.ts';

const FOLDER = join(PROGRAM_ROOT, 'docs');
/** Of a document; the longest has 54 KB. */
const CHARACTERS_MAX = 262_144;
/** The one at the top: the way to the others. */
export const START = 'README.md';

let listed: Promise<readonly string[]> | null = null;

/** The paths of all documents below `docs`, such as `how-to/checks/status-page.md`, sorted. Throws not_found. */
export function documentPaths(): Promise<readonly string[]> {
  // They do not change while the program runs. A link is no file here, so that nothing outside of the folder is read.
  listed ??= readdir(FOLDER, { recursive: true, withFileTypes: true })
    .then((entries) =>
      entries
        .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
        .map(({ parentPath, name }) => relative(FOLDER, join(parentPath, name)))
        .toSorted(),
    )
    .catch((error: unknown) => {
      listed = null;
      throw new Failure('not_found', 'The documentation is not installed: the program has no readable folder docs.', {
        cause: error,
      });
    });
  return listed;
}

/** The text of a document; throws not_found for any path that is not listed. */
export async function documentText(path: string): Promise<string> {
  if (!(await documentPaths()).includes(path)) throw new Failure('not_found', 'There is no such document.');
  const text = await readFile(join(FOLDER, path), 'utf8');
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text;
}
