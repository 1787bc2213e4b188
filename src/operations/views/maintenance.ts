import { z } from 'zod';
import { count } from './shared.ts';

export const MAINTENANCE_VIEWS = {
  'maintenance.readiness': z.object({ cordoned: z.boolean(), in_flight: count, safe_to_reboot: z.boolean() }),
} as const satisfies Record<string, z.ZodType>;
