import { readDatabaseUrl } from '../../domain/database/database-url.ts';
import { type Opening, openingForRoot, openingOf, openingText } from '../../lib/files/closed.ts';
import { refuseSetting } from './refuse-setting.ts';
import type { Setting } from './setting-values.ts';
import { type Settings, SETTINGS } from './settings.ts';

/** A file or folder that decides what the service does, by the setting that names it. */
interface DecidingFile {
  readonly flag: string;
  readonly path: string;
  /** A folder that the service makes where it is missing. */
  readonly isMade?: boolean;
}

/** The files and folders that settings name, other than the seal key. */
export function settingsFiles(settings: Settings): DecidingFile[] {
  const rows: readonly [string, Setting<unknown>][] = Object.entries(SETTINGS);
  const named = rows.flatMap(([key, { flag, decides }]) => {
    const path = settings[key as keyof Settings];
    return decides === undefined || typeof path !== 'string' ? [] : [{ flag, path, isMade: decides === 'folder' }];
  });
  return [...named, ...databaseFiles(settings.databaseUrl)];
}

/** All of them; `sealKey` is the path of the seal key. */
export function decidingFiles(settings: Settings, sealKey: string): DecidingFile[] {
  return [...settingsFiles(settings), { flag: 'seal-key-file', path: sealKey }];
}

/** What a URL of a database names: whom the service believes, and as whom it is believed. */
function databaseFiles(url: string | null): DecidingFile[] {
  if (url === null) return [];
  const { rootsFile, certificate } = readDatabaseUrl(url);
  const paths = [rootsFile, certificate?.file ?? null, certificate?.keyFile ?? null];
  return paths.flatMap((path) => (path === null ? [] : [{ flag: 'database-url', path }]));
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
