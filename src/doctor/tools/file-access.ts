import { decidingFiles, openDecidingFiles } from '../../config/settings/deciding-files.ts';
import { openingText } from '../../lib/files/closed.ts';
import { foldersOf, openFolders } from '../../lib/programs/search-path.ts';
import { openPrograms } from '../../lib/programs/find-program.ts';
import { type Facts, type Finding, named, ok, warn } from '../entry.ts';
import { TOOLS } from './tool-version.ts';

/** Names what other accounts can change: files that decide what the service does, and where its programs come from. */
export async function examineFileAccess({ settings, paths, path }: Facts): Promise<Finding> {
  const files = decidingFiles(settings, settings.sealKeyFile ?? paths.sealKey);
  const openFiles = openDecidingFiles(files).map(({ flag, opening }) => `--${flag}: ${openingText(opening)}`);
  const programs = await openPrograms(
    TOOLS.map(({ name }) => name),
    path,
  );
  const leftOut = [...openFolders(path), ...programs].map(
    (opening) => `not used for programs: ${openingText(opening)}`,
  );
  if (openFiles.length + leftOut.length > 0)
    return warn(`Other accounts can change what the service relies on. ${named([...openFiles, ...leftOut])}.`);
  return ok(
    `No other account can change the files and folders that decide (${files.length}) or the folders of the PATH ` +
      `(${foldersOf(path).length}).`,
  );
}
