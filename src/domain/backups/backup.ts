import { affixed, namePart, pathPart, type PathPart } from '../path-part.ts';

/** The `spec` of a backup job. */
export interface BackupSpec {
  /** What its backups are called: those of one name are kept and removed together. */
  readonly name: string;
}

export const BACKUP_NAME_DEFAULT = 'store';

/** Backups run one at a time: each reads the whole store. */
export const BACKUP_KEY = 'backup';

const FILE = /^([a-z0-9][a-z0-9._-]{0,62})-\d{8}T\d{6}Z-(bak_[0-9a-z]{26})\.backup$/;

/** A job makes one backup at most, so the id of the one gives that of the other. */
export function backupIdOf(jobId: string): string {
  return `bak_${jobId.slice('job_'.length)}`;
}

/**
 * `createdAt` is in milliseconds since the epoch. The name of a file says what it is without the store. Throws
 * forbidden for a name or an id that is malformed.
 */
export function backupFileName({ name }: BackupSpec, id: string, createdAt: number): PathPart {
  const time = new Date(createdAt)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  return affixed(`${namePart('name of the backup', name)}-${time}-`, pathPart('id of the backup', id), '.backup');
}

/** The file that a run writes, until it is whole. A reader of the directory does not take it for a backup. */
export function partialFileName(jobId: PathPart): PathPart {
  return affixed('.', jobId, '.partial');
}

/** The file that a row names; null where it is not the name of a file of that backup. */
export function fileOfBackup({ id, file }: { readonly id: string; readonly file: string }): PathPart | null {
  return idOfBackupFile(file) === id ? pathPart('file of the backup', file) : null;
}

/** The id of the backup in a file of this name; null for other names. */
export function idOfBackupFile(fileName: string): string | null {
  return FILE.exec(fileName)?.[2] ?? null;
}
