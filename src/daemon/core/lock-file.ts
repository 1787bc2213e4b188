import { rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isLockHeld } from '../../store/engine/instance-lock.ts';

export function lockFile(instancesDir: string, daemonId: string): string {
  return join(instancesDir, `${daemonId}.lock`);
}

/** Notes in the time of its lock file that a daemon lives. Opening the file would drop the lock; this opens nothing. */
export function touchLock(instancesDir: string, daemonId: string, now: number): void {
  try {
    utimesSync(lockFile(instancesDir, daemonId), now / 1_000, now / 1_000);
  } catch {
    // Somebody removed the file: then others see a dead daemon, which they would in any case.
  }
}

/** When a daemon with a lock was last seen, in milliseconds since the epoch: `now` while it lives; null if unknown. */
export function lockSeenAt(instancesDir: string, daemonId: string, now: number): number | null {
  const file = lockFile(instancesDir, daemonId);
  if (isLockHeld(file)) return now;
  return statSync(file, { throwIfNoEntry: false })?.mtime.getTime() ?? null;
}

/** Of a daemon that has stopped or died. */
export function removeLock(instancesDir: string, daemonId: string): void {
  rmSync(lockFile(instancesDir, daemonId), { force: true });
}
