import { chmodSync, closeSync, constants, fstatSync, openSync, realpathSync, type Stats } from 'node:fs';
import { errorCode } from '../lib/error-code.ts';
import { O_PATH } from '../lib/files/open-path.ts';
import {
  type DataDirPaths,
  foldersIn,
  isOpenToOthers,
  isOurs,
  modeText,
  PRIVATE_DIR_MODE,
  PRIVATE_FILE_MODE,
} from './data-dir.ts';

/** An entry of the data directory whose mode was wrong and has been corrected. */
export interface ModeChange {
  /** The name of the entry; `.` is the data directory itself. */
  readonly entry: string;
  /** Octal digits. */
  readonly found: string;
  readonly set: string;
}

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly kind: 'folder' | 'file';
  /** The rights that the owner needs at least. */
  readonly needs: number;
}

const ALL_PERMISSIONS = 0o777;
const OWNER_READS = 0o400;
const OWNER_READS_AND_WRITES = 0o600;

const folder = (name: string, path: string): Entry => ({ name, path, kind: 'folder', needs: PRIVATE_DIR_MODE });
const file = (name: string, path: string, needs: number): Entry => ({ name, path, kind: 'file', needs });

/** Folders first, the outermost before the others: the content of a closed folder cannot be reached. */
function entriesOf(paths: DataDirPaths): Entry[] {
  return [
    folder('.', paths.dir),
    ...foldersIn(paths.dir).map(({ name, path }) => folder(name, path)),
    ...['', '-wal', '-shm'].map((suffix) =>
      file(`gatehouse.db${suffix}`, `${paths.database}${suffix}`, OWNER_READS_AND_WRITES),
    ),
    file('seal.key', paths.sealKey, OWNER_READS),
  ];
}

/**
 * Restores the modes of the data directory, its folders, the database and the seal key, where a program of the same
 * account changed them. Each is opened without following a link and changed through that descriptor. Entries that are
 * missing or belong to another account are skipped. Returns the changes. Synchronous: eight files, some 0.1 ms.
 */
export function restoreModes(paths: DataDirPaths): ModeChange[] {
  return entriesOf(paths).flatMap((entry) => restore(entry) ?? []);
}

function restore(entry: Entry): ModeChange | null {
  const { name, path } = entry;
  try {
    // The operator may have replaced the key file by a link; a job cannot, because it cannot create entries there.
    const fd = openSync(name === 'seal.key' ? realpathSync(path) : path, O_PATH | constants.O_NOFOLLOW);
    try {
      const stats = fstatSync(fd);
      const mode = expected(stats, entry);
      if (mode === null) return null;
      // `fchmod` refuses such a descriptor; its entry in /proc leads to the very same file.
      chmodSync(`/proc/self/fd/${fd}`, mode);
      return { entry: name, found: modeText(stats.mode), set: modeText(mode) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === null) throw error;
    // Missing, or not ours to change: the code that needs it reports that.
    return null;
  }
}

/** The mode to set; null where the present one is sufficient. A key that its owner may only read is fine. */
function expected(stats: Stats, { kind, needs }: Entry): number | null {
  if (!isOurs(stats)) return null;
  if (kind === 'folder')
    return !stats.isDirectory() || (stats.mode & ALL_PERMISSIONS) === PRIVATE_DIR_MODE ? null : PRIVATE_DIR_MODE;
  const isSound = (stats.mode & needs) === needs && !isOpenToOthers(stats.mode);
  return isSound || !stats.isFile() ? null : PRIVATE_FILE_MODE;
}
