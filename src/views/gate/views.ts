import * as z from 'zod';
import { OPENING_KINDS } from '../../domain/gate/opening.ts';
import { count, time } from '../shapes.ts';

export const GATE_VIEWS = {
  /** `open`: what one person alone can do, each with the command that closes it. */
  'gate.get': z.object({
    strict: z.boolean(),
    set_at: time.nullable(),
    set_by: z.string().nullable(),
    open: z.array(z.object({ what: z.enum(OPENING_KINDS), count, close: z.string() })),
  }),
} as const satisfies Record<string, z.ZodType>;
