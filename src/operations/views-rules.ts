import type { z } from 'zod';

export const RULE_VIEWS = {} as const satisfies Record<string, z.ZodType>;
