import type { z } from 'zod';

export const WEBHOOK_VIEWS = {} as const satisfies Record<string, z.ZodType>;
