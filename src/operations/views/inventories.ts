import { z } from 'zod';
import { count, time } from './shared.ts';

const inventory = {
  name: z.string(),
  hosts: count,
  groups: count,
  ssh_key: z.string().nullable(),
  created_at: time,
  updated_at: time,
};

/** Without variables: what a playbook is given may be a credential. */
const host = z.object({
  host: z.string(),
  address: z.string(),
  port: z.int(),
  user: z.string().nullable(),
  connection: z.enum(['ssh', 'local']),
  groups: z.array(z.string()),
  host_keys: z.array(z.object({ type: z.string(), fingerprint: z.string() })),
});

export const INVENTORY_VIEWS = {
  'inventory.list': z.array(z.object(inventory)),
  'inventory.get': z.object({ ...inventory, members: z.array(host) }),
} as const satisfies Record<string, z.ZodType>;
