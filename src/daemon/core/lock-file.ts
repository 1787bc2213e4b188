import { rmSync, statSync, utimesSync } from 'node:fs';
import { idPartIn } from '../../domain/path-part.ts';
import { isDaemonLocked, lockFile } from '../../store/engine/instance-lock.ts';

/** Notes in the time of its lock file that a daemon lives. Opening the file would drop the lock; this opens nothing. */
export function touchLock(instancesDir: string, daemonId: string, now: number): void {
  const id = idPartIn('dmn', daemonId);
  try {
    if (id !== null) utimesSync(lockFile(instancesDir, id), now / 1_000, now / 1_000);
  } catch {
    // Somebody removed the file: then others see a dead daemon, which they would in any case.
  }
}

/**
 * When a daemon with a lock was last seen, in milliseconds since the epoch: `now` while it lives; null if unknown, as
 * for a row with a malformed id.
 */
export function lockSeenAt(instancesDir: string, daemonId: string, now: number): number | null {
  const id = idPartIn('dmn', daemonId);
  if (id === null) return null;
  if (isDaemonLocked(instancesDir, id)) return now;
  return statSync(lockFile(instancesDir, id), { throwIfNoEntry: false })?.mtime.getTime() ?? null;
}

/** Of a daemon that has stopped or died. Nothing is removed for a row with a malformed id. */
export function removeLock(instancesDir: string, daemonId: string): void {
  const id = idPartIn('dmn', daemonId);
  if (id !== null) rmSync(lockFile(instancesDir, id), { force: true });
}
