import type { z } from 'zod';

export const HOST_VIEWS = {} as const satisfies Record<string, z.ZodType>;
