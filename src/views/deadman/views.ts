import * as z from 'zod';
import { time } from '../shapes.ts';

const watch = z.object({
  name: z.string(),
  webhook: z.string(),
  every: z.string(),
  state: z.enum(['heard', 'silent', 'waiting']),
  last_heard_at: time.nullable(),
  created_at: time,
});

export const DEADMAN_VIEWS = { 'deadman.get': watch, 'deadman.list': z.array(watch) } as const satisfies Record<
  string,
  z.ZodType
>;
