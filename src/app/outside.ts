import { dirname } from 'node:path';
import type { DataDirPaths } from '../config/data-dir.ts';
import { sharedRunsDirs } from '../config/runs-dir.ts';
import type { Settings } from '../config/settings/settings.ts';
import { Failure } from '../domain/failure.ts';
import type { OutsideChecker } from '../operations/core/services.ts';
import type { RunSetup } from '../runners/run.ts';
import { checkOutside, OutsideRefused } from '../runners/sandbox/outside.ts';
import { PROGRAM_ROOT } from '../lib/files/program-files.ts';

/** What no order makes writable: the data, wherever its parts are, the runs and the program. */
export function keptFolders(paths: DataDirPaths, { dataDir, runsDir }: Settings): string[] {
  return [...Object.values(paths), dataDir, ...sharedRunsDirs(runsDir), PROGRAM_ROOT, dirname(process.execPath)];
}

/** Of the service: what output does not show, and what no job may write. */
export function foldersOf(
  { paths, settings, keptFolders: kept }: { paths: DataDirPaths; settings: Settings; keptFolders: readonly string[] },
  runsDir: string,
): Pick<RunSetup, 'hiddenFolders' | 'keptFolders'> {
  return { hiddenFolders: [paths.dir, settings.dataDir], keptFolders: [...kept, runsDir] };
}

export function createOutsideChecker(kept: readonly string[]): OutsideChecker {
  return {
    check(paths) {
      try {
        checkOutside({ paths, kept });
      } catch (error) {
        if (!(error instanceof OutsideRefused)) throw error;
        throw new Failure('invalid_argument', `${error.message}.`);
      }
    },
  };
}
