import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** An operating-system lock on a file, held until `release` or until the process ends, however it ends. */
export interface InstanceLock {
  release(): void;
}

/**
 * Node has no call for file locks, SQLite does: an exclusive transaction on an empty database holds its locks on
 * the file and writes nothing. The kernel drops them with the process.
 */
export function holdLock(file: string): InstanceLock {
  // A file that is there is not opened: closing any descriptor of it would drop the locks that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    throw error;
  }
  return { release: () => database.close() };
}

/** True while a live process holds the lock. A file that is gone is not held. */
export function isLockHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    holdLock(file).release();
    return false;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && (error.errcode === 5 || error.errcode === 6)) return true;
    throw error;
  }
}
