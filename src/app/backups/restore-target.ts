import { lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DATA_DIR_ENTRIES, PRIVATE_DIR_MODE, PRIVATE_FILE_MODE, prepareDataDir } from '../../config/data-dir.ts';
import { Failure } from '../../domain/failure.ts';
import { createExclusive, syncDirectory } from '../../lib/atomic-file.ts';
import { errorCode } from '../../lib/error-code.ts';

/** What is restored lies here until it is whole: no daemon starts on it. */
const UNFINISHED = '.restore';

/** What an otherwise empty data directory may hold: the key, the backups, and what a killed restore has left. */
const ALLOWED: readonly string[] = [
  DATA_DIR_ENTRIES.sealKey.name,
  DATA_DIR_ENTRIES.backups.name,
  UNFINISHED,
  'lost+found',
];
/** Made by a program that found no store; they may be there as long as they are empty. */
const EMPTY_FOLDERS: readonly string[] = [
  DATA_DIR_ENTRIES.runs.name,
  DATA_DIR_ENTRIES.instances.name,
  DATA_DIR_ENTRIES.sources.name,
];

/** Throws conflict for a directory that holds more, and invalid_argument for anything but a directory. */
export async function requireEmptyTarget(dir: string, keyText: string): Promise<void> {
  const names = await namesIn(dir);
  for (const name of names) {
    if (ALLOWED.includes(name)) continue;
    const isEmpty = EMPTY_FOLDERS.includes(name) && (await readdir(join(dir, name))).length === 0;
    if (!isEmpty)
      throw new Failure(
        'conflict',
        `--into: ${dir} holds ${JSON.stringify(name)}; name an empty directory or a new one.`,
      );
  }
  const { name } = DATA_DIR_ENTRIES.sealKey;
  if (names.includes(name) && (await readFile(join(dir, name), 'utf8')) !== keyText)
    throw new Failure('conflict', `--into: ${dir} holds another seal key; name an empty directory or a new one.`);
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    if (!(await stat(dir)).isDirectory()) throw new Failure('invalid_argument', `--into: ${dir} is not a directory.`);
    return await readdir(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    if (error instanceof Failure) throw error;
    throw new Failure('invalid_argument', `--into: ${dir} cannot be read: ${errorCode(error) ?? 'unknown error'}.`);
  }
}

/** A directory that gets a store. */
interface Target {
  readonly dir: string;
  /** Where the content of the backup is written. */
  readonly content: string;
  /** Puts the key in its place and, where the content is the store, the store too: it is a data directory then. */
  finish(keyText: string, hasStore: boolean): Promise<void>;
  /** Removes what is unfinished. */
  clear(): Promise<void>;
}

/** Makes the directory and a folder in it for what is unfinished. Throws Failure. */
export async function makeTarget(dir: string): Promise<Target> {
  const paths = await prepareDataDir(dir);
  const folder = join(paths.dir, UNFINISHED);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: PRIVATE_DIR_MODE });
  const content = join(folder, DATA_DIR_ENTRIES.database.name);
  return {
    dir: paths.dir,
    content,
    async finish(keyText, hasStore) {
      // First: a store without its key could not be started. What a kill leaves of it must not refuse the next restore.
      await createExclusive(paths.sealKey, keyText, PRIVATE_FILE_MODE, folder);
      if (hasStore) {
        await requireNoLog(content);
        await rename(content, paths.database);
      }
      await syncDirectory(paths.dir);
      await rm(folder, { recursive: true, force: true });
    },
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A closed store has no log beside it. With one, the file alone would not be the whole store. */
async function requireNoLog(database: string): Promise<void> {
  const log = await lstat(`${database}-wal`).catch(() => null);
  if (log !== null && log.size > 0) throw new Error('the restored store was not closed in order');
}
