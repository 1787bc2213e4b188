import { form } from '../form.ts';
import type { BackupRow } from './tables.ts';

/** What the tag of a backup covers. */
export const BACKUP = form<BackupRow>()({
  what: 'backup',
  key: ['id'],
  columns: ['id', 'job_id', 'name', 'file', 'host', 'created_at', 'sha256', 'removed_at'],
});
