import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Until when the jobs of a daemon may live, in milliseconds of the monotonic clock, which all processes share. */
export interface LeaseTimes {
  readonly termAt: number;
  readonly killAt: number;
}

const FILE_MODE = 0o600;
/** Of a daemon that was killed: long after its guard has read it for the last time, in milliseconds. */
const LEFT_BEHIND_MS = 86_400_000;

/** For the guard, which reads it before it ends a job. A reader finds the file whole: before or after this. */
export function writeLeaseTimes(file: string, { termAt, killAt }: LeaseTimes): void {
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify([termAt, killAt]), { mode: FILE_MODE });
  renameSync(next, file);
}

/** Null where there is no such file, or none that `writeLeaseTimes` wrote. */
export function readLeaseTimes(file: string): LeaseTimes | null {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const [termAt, killAt] = Array.isArray(read) ? (read as readonly unknown[]) : [];
    return typeof termAt === 'number' && typeof killAt === 'number' ? { termAt, killAt } : null;
  } catch {
    return null;
  }
}

/** Removes the file, and those beside it that dead daemons have left; `now` in milliseconds since the epoch. */
export function removeLeaseTimes(file: string, now: number): void {
  rmSync(file, { force: true });
  const folder = dirname(file);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOld = (): boolean =>
      now - (statSync(path, { throwIfNoEntry: false })?.mtime.getTime() ?? now) > LEFT_BEHIND_MS;
    if (/\.lease(\.next)?$/.test(entry.name) && isOld()) rmSync(path, { force: true });
  }
}
