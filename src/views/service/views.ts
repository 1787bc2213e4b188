import * as z from 'zod';
import { SCOPES } from '../../domain/access/scope.ts';
import { agent } from '../access/views.ts';
import { time } from '../shapes.ts';

export const WHOAMI_VIEWS = {
  whoami: z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    via: z.string(),
    expires_at: time.nullable(),
    server: z.object({ version: z.string().optional(), hostname: z.string().optional(), started_at: time.optional() }),
    ...agent,
  }),
} as const satisfies Record<string, z.ZodType>;

export const DOCTOR_VIEWS = {
  doctor: z.array(
    z.object({ name: z.string(), status: z.enum(['ok', 'warn', 'fail', 'unknown']), detail: z.string() }),
  ),
} as const satisfies Record<string, z.ZodType>;
