import * as z from 'zod';
import { count, time } from '../shapes.ts';

/** Who did what. `detail` has passed the list of what is shown of each operation. */
export const AUDIT_VIEWS = {
  'audit.list': z.array(
    z.object({
      chain: z.string(),
      seq: count,
      at: time,
      principal: z.string(),
      owner: z.string(),
      via: z.string(),
      operation: z.string(),
      target: z.string().nullable(),
      detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])),
    }),
  ),
  'audit.head': z.array(z.object({ chain: z.string(), seq: count, hash: z.string() })),
} as const satisfies Record<string, z.ZodType>;
