import { readDatabaseUrl } from '../../domain/database/database-url.ts';
import { type Opening, openingForRoot, openingOf, openingText } from '../../lib/files/closed.ts';
import { refuseSetting } from './refuse-setting.ts';
import type { Settings } from './settings.ts';

/** A file or folder that decides what the service does, by the setting that names it. */
interface DecidingFile {
  readonly flag: string;
  readonly path: string;
  /** A folder that the service makes where it is missing. */
  readonly isMade?: boolean;
}

type Named = Pick<
  Settings,
  'config' | 'dataDir' | 'databaseUrl' | 'backupDir' | 'runsDir' | 'notifyFile' | 'checkCaFile' | 'toolchainManifest'
>;

/** The files and folders that settings name, other than the seal key. */
export function settingsFiles(settings: Named): DecidingFile[] {
  const files: readonly (Omit<DecidingFile, 'path'> & { readonly path: string | null })[] = [
    { flag: 'config', path: settings.config },
    // An account that can exchange a folder gives the service its own store, or has it close a folder of the system.
    { flag: 'data-dir', path: settings.dataDir, isMade: true },
    { flag: 'backup-dir', path: settings.backupDir, isMade: true },
    { flag: 'runs-dir', path: settings.runsDir, isMade: true },
    { flag: 'notify-file', path: settings.notifyFile },
    { flag: 'check-ca-file', path: settings.checkCaFile },
    // It says which versions the doctor calls right.
    { flag: 'toolchain-manifest', path: settings.toolchainManifest },
    ...databaseFiles(settings.databaseUrl),
  ];
  return files.filter((file): file is DecidingFile => file.path !== null);
}

/** All of them; `sealKey` is the path of the seal key. */
export function decidingFiles(settings: Named, sealKey: string): DecidingFile[] {
  return [...settingsFiles(settings), { flag: 'seal-key-file', path: sealKey }];
}

/** What a URL of a database names: whom the service believes, and as whom it is believed. */
function databaseFiles(url: string | null): { readonly flag: string; readonly path: string | null }[] {
  if (url === null) return [];
  const { rootsFile, certificate } = readDatabaseUrl(url);
  return [rootsFile, certificate?.file ?? null, certificate?.keyFile ?? null].map((path) => ({
    flag: 'database-url',
    path,
  }));
}

/** Throws invalid_argument where this process is root and another account can change the path or a folder above it. */
export function requireClosed({ flag, path, isMade }: DecidingFile): void {
  const opening = openingForRoot(path, isMade);
  if (opening !== null) refuseSetting(flag, `${path} ${openFault(path, opening)}`);
}

/** Continues a sentence that begins with the path of the file: why root does not read it, and what closes it. */
export function openFault(path: string, opening: Opening): string {
  const where =
    opening.path === path ? `${opening.why}: ${opening.remedy}` : `cannot be trusted: ${openingText(opening)}`;
  return `${where}. A process of root reads only what no other account can change`;
}

/** Those that another account can change, each with the reason. */
export function openDecidingFiles(files: readonly DecidingFile[]): (DecidingFile & { readonly opening: Opening })[] {
  return files.flatMap((file) => {
    const opening = openingOf(file.path, file.isMade);
    return opening === null ? [] : [{ ...file, opening }];
  });
}
