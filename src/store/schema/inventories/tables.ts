import type { StoredInventory } from '../../../domain/inventories/model-json.ts';
import type { Json } from '../../../lib/json.ts';
import type { RunApprovalColumns } from '../gate/tables.ts';

declare module '../schema.ts' {
  interface Schema {
    inventories: InventoryRow;
    host_keys: HostKeyRow;
  }
}

export interface InventoryRow extends RunApprovalColumns {
  name: string;
  /** JSON: what was read of the file. Never shown. */
  model: Json<StoredInventory>;
  /** SHA-256 of the model, hex. */
  digest: string;
  hosts: number;
  groups: number;
  /** The secret with the private key for its hosts, `project/name`; null without one. */
  ssh_key: string | null;
  created_at: number;
  updated_at: number;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}

/** A public key that a person accepted for a host. */
export interface HostKeyRow {
  inventory: string;
  host: string;
  /** As OpenSSH names it: `ssh-ed25519`. */
  type: string;
  /** Base64. */
  key: string;
  added_at: number;
  added_by: string;
}
