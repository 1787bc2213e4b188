import * as z from 'zod';
import { count, time } from '../shapes.ts';

/** As rules show it. */
export const backupAction = z.object({ kind: z.literal('backup'), backup: z.string(), timeout: z.string().nullable() });

const backup = z.object({
  id: z.string(),
  job_id: z.string(),
  created_at: time,
  size_bytes: count,
  sha256: z.string(),
  /** When it was last read to its end; null when it could not be. */
  verified_at: time.nullable(),
});

export const BACKUP_VIEWS = { 'backup.list': z.array(backup), 'backup.get': backup } as const satisfies Record<
  string,
  z.ZodType
>;
