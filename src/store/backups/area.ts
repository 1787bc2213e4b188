import { sql } from 'kysely';
import { namedInFew, type StoreArea } from '../area.ts';

export const BACKUPS: StoreArea = { keepsJobs: [namedInFew('backups.job_id', sql`backups.removed_at is null`)] };
