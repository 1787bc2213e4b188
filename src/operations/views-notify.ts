import type { z } from 'zod';

export const NOTIFY_VIEWS = {} as const satisfies Record<string, z.ZodType>;
