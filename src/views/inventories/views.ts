import * as z from 'zod';
import { count, runApproval, time } from '../shapes.ts';

const inventory = {
  name: z.string(),
  hosts: count,
  groups: count,
  ssh_key: z.string().nullable(),
  created_at: time,
  updated_at: time,
  ...runApproval,
};

const hostKey = { type: z.string(), fingerprint: z.string() };

/** Without variables: what a playbook is given may be a credential. */
const host = z.object({
  host: z.string(),
  address: z.string(),
  port: z.int(),
  user: z.string().nullable(),
  connection: z.enum(['ssh', 'local']),
  groups: z.array(z.string()),
  host_keys: z.array(z.object(hostKey)),
});

export const INVENTORY_VIEWS = {
  'inventory.list': z.array(z.object(inventory)),
  'inventory.get': z.object({ ...inventory, members: z.array(host) }),
  /** The keys that hosts offer, and those that were accepted before; `fault` says why there are no keys. */
  'inventory.host_keys': z.array(
    z.object({
      host: z.string(),
      address: z.string(),
      port: z.int(),
      keys: z.array(z.object({ ...hostKey, accepted: z.boolean() })),
      accepted: z.array(z.object(hostKey)),
      fault: z.string().nullable(),
    }),
  ),
} as const satisfies Record<string, z.ZodType>;
