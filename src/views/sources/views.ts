import * as z from 'zod';
import { SOURCE_KINDS } from '../../domain/sources/source.ts';
import { runApproval, time } from '../shapes.ts';

const source = z.object({
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  ref: z.string().nullable(),
  commit: z.string().nullable(),
  synced_at: time.nullable(),
  ...runApproval,
});

export const SOURCE_VIEWS = {
  'source.list': z.array(source),
  'source.get': source,
  /** Which steps the source's own hooks file asks for; they are not run. */
  'hooks.show': z.object({ source: z.string(), file: z.string().nullable(), hooks: z.array(z.string()) }),
} as const satisfies Record<string, z.ZodType>;
