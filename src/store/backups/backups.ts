import { BACKUP_KEY, fileOfBackup } from '../../domain/backups/backup.ts';
import type { PathPart } from '../../domain/path-part.ts';
import { found, rowBy } from '../engine/rows.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { type Checked, passesTag, retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { BackupRow, Db, JobRow } from '../schema/schema.ts';

/** The backups of this store. A removed one keeps its row until its file is gone, and is not listed. */

type NewBackup = Omit<Untagged<BackupRow>, 'removed_at'> & Partial<Pick<BackupRow, 'removed_at'>>;

export async function insertBackup(tx: Tx, made: NewBackup): Promise<void> {
  const row = { removed_at: null, ...made };
  await tx.db
    .insertInto('backups')
    .values({ ...row, ...tagOf(tx.ring, 'backups', row) })
    .execute();
}

export const findBackup = rowBy('backups', 'id');

/** Throws not_found, also for a removed one. */
export async function getBackup(db: Db, id: string): Promise<BackupRow> {
  const row = await findBackup(db, id);
  return found(row?.removed_at === null ? row : undefined, 'backup', id);
}

/** Newest first, at most `limit`; `before` is the last id that was read. */
export function listBackups(db: Db, before: string | undefined, limit: number): Promise<BackupRow[]> {
  let query = db.selectFrom('backups').selectAll().where('removed_at', 'is', null);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** The newest job that makes backups. */
export function lastBackupJob(db: Db): Promise<Pick<JobRow, 'id' | 'state'> | undefined> {
  return db
    .selectFrom('jobs')
    .select(['id', 'state'])
    .where('concurrency_key', '=', BACKUP_KEY)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Notes when it was last read to its end, or with null that it could not be. */
export async function noteVerified(tx: Tx, id: string, at: number | null): Promise<void> {
  await tx.db.updateTable('backups').set({ verified_at: at }).where('id', '=', id).execute();
}

/**
 * Removes the backups of this name but the `keep` newest: their files are removed later. A row that was not written
 * here counts as none: a few of them with new ids would push out every backup.
 */
export async function removeSurplus(tx: Tx, name: string, keep: number): Promise<void> {
  const listed = tx.db.selectFrom('backups').selectAll().where('name', '=', name).where('removed_at', 'is', null);
  let kept = 0;
  for (const row of await listed.orderBy('id', 'desc').execute()) {
    if (!(await passesTag(tx, 'backups', row))) continue;
    kept += 1;
    if (kept <= keep) continue;
    const set = retagged(tx.ring, 'backups', row, { removed_at: tx.now });
    await tx.db.updateTable('backups').set(set).where('id', '=', row.id).execute();
  }
}

/** The file of a backup in the directory of backups; null where the row does not name a file of that backup. */
export function fileOf(row: Checked<BackupRow>): PathPart | null {
  return fileOfBackup(row);
}

/** Removed backups whose files may still be there, oldest first, at most `limit`. */
export function listRemoved(db: Db, limit: number): Promise<BackupRow[]> {
  return db.selectFrom('backups').selectAll().where('removed_at', 'is not', null).orderBy('id').limit(limit).execute();
}

/** Forgets removed backups whose files are gone. */
export async function forgetRemoved(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('backups').where('id', 'in', ids).where('removed_at', 'is not', null).execute();
}
