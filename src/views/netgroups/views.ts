import * as z from 'zod';

const netgroup = z.object({
  id: z.string(),
  name: z.string(),
  prefixes: z.array(z.string()),
  excludes: z.array(z.string()),
});

export const NETGROUP_VIEWS = {
  'netgroup.list': z.array(netgroup),
  'netgroup.get': netgroup,
  /** `match` is the prefix that decides; null if no group covers the address. */
  'netgroup.classify': z.object({
    address: z.string(),
    netgroup: z.string(),
    match: z.object({ netgroup: z.string(), prefix: z.string(), excluded: z.boolean() }).nullable(),
  }),
} as const satisfies Record<string, z.ZodType>;
