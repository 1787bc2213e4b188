import { lstat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { fileOfBackup } from '../../domain/backups/backup.ts';
import { formatDuration } from '../../domain/duration.ts';
import { entryPath } from '../../domain/path-part.ts';
import { lastBackupJob, listBackups, listRemoved } from '../../store/backups/backups.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import { findSealKey } from '../../store/secrets/seal.ts';
import type { BackupRow, Db, SealRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

const MINUTE_MS = 60_000;
/** Rows of each list that are looked at: more than are kept of some names, at a few microseconds each. */
const ROWS_MAX = 200;

/**
 * Reports the newest backup, whether a later one failed, and whether its key was exported: without the key no backup
 * can be restored.
 */
export function examineBackups({ openedStore, paths, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const { db } = store;
    const [newest] = await listBackups(db, undefined, 1);
    const failed = await failedSince(db, newest);
    if (newest === undefined)
      return failed === null ? ok('No backup was made yet: svc backup create --wait.') : warn(failed);
    const changed = await changedFault(store);
    const faults = [failed, changed, await fileFault(newest, paths.backups), keyFault(await findSealKey(db))];
    const found = faults.filter((fault) => fault !== null);
    const age = Math.max(0, clock.now() - newest.created_at);
    const inWords = age < MINUTE_MS ? 'less than a minute' : formatDuration(age - (age % MINUTE_MS));
    const state = `The newest backup is ${inWords} old`;
    return found.length === 0 ? ok(`${state}, and its key was exported.`) : warn(`${state}. ${found.join(' ')}`);
  });
}

async function failedSince(db: Db, newest: BackupRow | undefined): Promise<string | null> {
  const job = await lastBackupJob(db);
  if (job === undefined || !['failed', 'interrupted'].includes(job.state)) return null;
  if (newest !== undefined && newest.job_id >= job.id) return null;
  return `The last backup is ${job.state}: svc job events ${job.id}.`;
}

/** Such a row removes no file, so that files that nothing removes may fill the disk. */
async function changedFault(store: Store): Promise<string | null> {
  const rows = [...(await listRemoved(store.db, ROWS_MAX)), ...(await listBackups(store.db, undefined, ROWS_MAX))];
  for (const row of rows)
    if (!(await passesTag(store, 'backups', row)))
      return `The row of ${row.id} was changed in the database: its file is neither verified nor removed.`;
  return null;
}

async function fileFault(row: BackupRow, folder: string): Promise<string | null> {
  const { id, host, size_bytes: size, verified_at: at } = row;
  if (at === null) return `Backup ${id} could not be verified: make another with svc backup create --wait.`;
  // Another machine wrote it, perhaps to a directory that this one does not see.
  if (host !== hostname()) return null;
  const file = fileOfBackup(row);
  const stats = file === null ? null : await lstat(entryPath(folder, file)).catch(() => null);
  if (stats === null) return `The file of ${id} is not in the directory of backups: check --backup-dir.`;
  return stats.size === size ? null : `The file of ${id} has another size: svc backup verify ${id}.`;
}

function keyFault(used: SealRow | undefined): string | null {
  if (used === undefined || used.exported_at === null)
    return 'The seal key was never exported, and no backup holds it: svc seal export FILE, to another disk.';
  if (used.exported_key_id !== used.key_id)
    return 'The seal key was rotated after its last export: svc seal export FILE, to another disk.';
  return null;
}
