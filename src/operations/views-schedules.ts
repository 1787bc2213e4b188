import type { z } from 'zod';

export const SCHEDULE_VIEWS = {} as const satisfies Record<string, z.ZodType>;
