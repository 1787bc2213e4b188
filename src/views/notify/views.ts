import * as z from 'zod';
import { count, time } from '../shapes.ts';

const endpoint = z.object({
  id: z.string(),
  endpoint: z.string(),
  label: z.string().optional(),
  created_at: time,
  /** Whose device it is, if that is another one than who registered it. */
  owner: z.string().optional(),
});

/** Of a rule. */
export const notifyAction = z.object({ kind: z.literal('notify') });

export const NOTIFY_VIEWS = {
  'notify.endpoint': endpoint,
  'notify.endpoint.list': z.array(endpoint),
  'notify.key': z.object({ public_key: z.string() }),
  'notify.test': z.object({ page_id: z.string(), endpoints: count }),
  'job.notify': z.object({ job_id: z.string(), state: z.string(), armed_at: time }),
} as const satisfies Record<string, z.ZodType>;
