import type { DatabaseSync } from 'node:sqlite';
import { running, theWorld } from './current.ts';
import type { DiskFault, Host } from './host.ts';

const FAULTS: Readonly<Record<DiskFault, { readonly message: string; readonly errcode: number }>> = {
  full: { message: 'database or disk is full', errcode: 13 },
  broken: { message: 'disk I/O error', errcode: 10 },
};

/** Rows fit into what is left of a page more often than a commit into the log, so most transactions get that far. */
const FAILS = { row: 0.1, commit: 0.7, file: 0.5 };

/**
 * What a write of this daemon meets: its end just before a commit, or the fault that its disk has now. `committing` is
 * the connection that commits; null for any other write. Throws as SQLite does.
 */
export function failOn(host: Host, committing: DatabaseSync | null): void {
  const world = theWorld();
  if (committing !== null && world.chance.of(`${host.name}/kill`).chance(world.rates.commit)) world.kill(host);
  const { fault, until } = host.machine.disk;
  if (until <= world.now) return;
  const share = committing === null ? FAILS.row : FAILS.commit;
  if (!world.chance.of(`${host.name}/disk`).chance(share)) return;
  // A commit that cannot be written is rolled back.
  if (committing?.isTransaction === true) committing.exec('rollback');
  throw Object.assign(new Error(FAULTS[fault].message), { code: 'ERR_SQLITE_ERROR', errcode: FAULTS[fault].errcode });
}

const FILE_FAULTS: Readonly<Record<DiskFault, { readonly code: string; readonly message: string }>> = {
  full: { code: 'ENOSPC', message: 'ENOSPC: no space left on device, write' },
  broken: { code: 'EIO', message: 'EIO: i/o error, write' },
};

/** What a write to a file meets, of the daemon whose code runs. Throws as Node does. */
export function failOnFile(): void {
  const host = running()?.host;
  if (host === undefined) return;
  const world = theWorld();
  const { fault, until } = host.machine.disk;
  if (until <= world.now || !world.chance.of(`${host.name}/files`).chance(FAILS.file)) return;
  throw Object.assign(new Error(FILE_FAULTS[fault].message), { code: FILE_FAULTS[fault].code });
}
