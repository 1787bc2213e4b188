import { constants } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';
import { randomName } from './random.ts';

/**
 * Replaces the file at `path` so that a reader, or a start after a power cut, finds the old content or the new one and
 * never a part: temporary file beside it, fsync, rename, fsync of the directory. `mode` is set whatever the umask is. A
 * kill in between may leave `.<name>.<random>.tmp`, which is never read. Rejects with the system's error.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const temporary = await writeTemporary(path, data, mode);
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/**
 * Makes the file at `path` with its whole content, unless there is one. True when this call made it; false when there
 * was one already (a link counts), which is then complete if it was made by this function too. Of callers that start at
 * once, in one process or in many, exactly one gets true. Rejects with the system's error, also where the file system
 * has no hard links: without them a file can't appear whole and without replacing another. It is written in `folder`
 * first, of the same file system, where a kill may leave its temporary file.
 */
export async function createExclusive(
  path: string,
  data: string | Uint8Array,
  mode: number,
  folder = dirname(path),
): Promise<boolean> {
  const temporary = await writeTemporary(join(folder, basename(path)), data, mode);
  let made = true;
  try {
    await link(temporary, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    made = false;
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
  // The loser waits for the disk too: it relies on the winner's file being there after a power cut.
  await syncDirectory(dirname(path));
  return made;
}

async function writeTemporary(path: string, data: string | Uint8Array, mode: number): Promise<string> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomName()}.tmp`);
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    await file.chmod(mode);
    await file.writeFile(data);
    await file.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return temporary;
}

/** Makes sure that the names in a directory are there after a power cut. Rejects with the system's error. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
