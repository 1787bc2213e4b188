import type { z } from 'zod';

export const EVENT_VIEWS = {} as const satisfies Record<string, z.ZodType>;
