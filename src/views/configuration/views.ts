import * as z from 'zod';
import { time } from '../shapes.ts';

const object = { kind: z.string(), name: z.string() };

const change = z.object({
  change: z.enum(['add', 'change', 'remove']),
  ...object,
  /** Where it is in the file; null for one that the file does not name. */
  line: z.number().nullable(),
  /** What differs, as a file has it. Credentials are `[kept]`; null where there is no such field. */
  fields: z.array(z.object({ field: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
  /** Of an object that is managed by a set and was changed since: who did it last, where the ledger says so. */
  by_hand: z
    .object({ principal: z.string().nullable(), operation: z.string().nullable(), at: time.nullable() })
    .nullable(),
});

const compared = {
  set: z.string().nullable(),
  changes: z.array(change),
  /** Objects of the file that are as it says. */
  same: z.number(),
  /** Managed by the set and not in the file: `prune` removes them. */
  left: z.array(z.object(object)),
  /** Objects that were there and the set of the file did not manage, and the set that did. */
  taken: z.array(z.object({ ...object, from: z.string().nullable() })),
};

export const CONFIG_VIEWS = {
  'config.exported': z.object({ text: z.string() }),
  'config.diff': z.object(compared),
  'config.applied': z.object({
    ...compared,
    /** Of new webhooks; shown once. */
    webhooks: z.array(z.object({ name: z.string(), url: z.string(), signing_secret: z.string().nullable() })),
  }),
} as const satisfies Record<string, z.ZodType>;
