import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { affixed, entryPath, idPartIn, type PathPart } from '../../domain/path-part.ts';

/** An operating-system lock on a file, held until `release` or until the process ends, however it ends. */
export interface InstanceLock {
  release(): void;
}

/**
 * The databases behind the locks that are held. A lock whose owner forgot it would else be freed by the garbage
 * collector.
 */
const OPEN = new Set<DatabaseSync>();

/**
 * Node has no call for file locks, SQLite does: an exclusive transaction on an empty database holds its locks on
 * the file and writes nothing. The kernel drops them with the process.
 */
export function holdLock(file: string): InstanceLock {
  // An existing file is not opened: closing any descriptor of it would drop the locks that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    throw error;
  }
  OPEN.add(database);
  return {
    release() {
      // Twice is once: what is closed cannot be closed again.
      if (OPEN.delete(database)) database.close();
    },
  };
}

/** What SQLite answers when another process holds the lock (busy, locked). */
const HELD = [5, 6];
/** "Not a database": a torn file. SQLite reads it only with the lock, so no process holds it. */
const TORN = 26;

/** True while a live process holds the lock. A file that is gone, or torn by a crash, is not held. */
export function isLockHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    holdLock(file).release();
    return false;
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
    if (code === TORN) return false;
    if (typeof code === 'number' && HELD.includes(code)) return true;
    throw error;
  }
}

/** The file that a daemon of this id has locked. */
export function lockFile(instancesDir: string, daemonId: PathPart): string {
  return entryPath(instancesDir, affixed('', daemonId, '.lock'));
}

/** The file of the limits of its lease, for its guard. */
export function leaseFile(instancesDir: string, daemonId: PathPart): string {
  return entryPath(instancesDir, affixed('', daemonId, '.lease'));
}

/** True while the daemon of this id lives. A row with a malformed id is of no daemon. */
export function isDaemonLocked(instancesDir: string, daemonId: string): boolean {
  const id = idPartIn('dmn', daemonId);
  return id !== null && isLockHeld(lockFile(instancesDir, id));
}
