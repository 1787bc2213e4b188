import { type Opening, openingForRoot, openingOf, openingText } from '../../lib/files/closed.ts';
import { refuseSetting } from './refuse-setting.ts';
import type { Settings } from './settings.ts';

/** A file that decides what the service does, by the setting that names it. */
interface DecidingFile {
  readonly flag: string;
  readonly path: string;
}

type Named = Pick<Settings, 'config' | 'notifyFile' | 'checkCaFile' | 'databaseUrl'>;

/** The files that settings name, other than the seal key. */
export function settingsFiles({ config, notifyFile, checkCaFile, databaseUrl }: Named): DecidingFile[] {
  const files: readonly { readonly flag: string; readonly path: string | null }[] = [
    { flag: 'config', path: config },
    { flag: 'notify-file', path: notifyFile },
    { flag: 'check-ca-file', path: checkCaFile },
    { flag: 'database-url', path: databaseCaFile(databaseUrl) },
  ];
  return files.filter((file): file is DecidingFile => file.path !== null);
}

/** All of them; `sealKey` is the path of the seal key. */
export function decidingFiles(settings: Named, sealKey: string): DecidingFile[] {
  return [...settingsFiles(settings), { flag: 'seal-key-file', path: sealKey }];
}

/** The file of certificates that a URL of a database names, which decides what server is believed. */
function databaseCaFile(url: string | null): string | null {
  const file = url !== null && URL.canParse(url) ? new URL(url).searchParams.get('sslrootcert') : null;
  return file === null || file === '' || file === 'system' ? null : file;
}

/** Throws invalid_argument where this process is root and another account can change the file or a folder above it. */
export function requireClosed({ flag, path }: DecidingFile): void {
  const opening = openingForRoot(path);
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
    const opening = openingOf(file.path);
    return opening === null ? [] : [{ ...file, opening }];
  });
}
