import * as z from 'zod';
import { count, time } from '../shapes.ts';

const secret = z.object({ project: z.string(), name: z.string(), version: count, created_at: time, updated_at: time });

export const SECRET_VIEWS = {
  'secret.list': z.array(secret),
  'secret.get': secret,
  /** `text` is the key file, where it was not written to a file. */
  'seal.exported': z.object({ key_id: z.string(), file: z.string().nullable(), text: z.string().nullable() }),
  'seal.status': z.object({
    key_id: z.string().nullable(),
    algorithm: z.string(),
    created_at: time.nullable(),
    sealed_items: count,
    state: z.enum(['ok', 'rotating', 'missing', 'foreign']),
  }),
} as const satisfies Record<string, z.ZodType>;
