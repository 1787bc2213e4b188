import type { Restoring, Settled } from './area.ts';
import { STORE_AREAS } from './areas.ts';
import type { Tx } from './engine/tx.ts';

/**
 * Brings a restored store to rest: what was under way when its backup was made has ended since then, nothing that is
 * due is caught up with, and no notification is sent. It stays cordoned until an operator has looked at it.
 */
export async function settleRestored(tx: Tx, restoring: Restoring): Promise<Settled> {
  const settled = { interrupted: 0, cancelled: 0, approvals: 0, workflow_runs: 0, deliveries: 0 };
  for (const { restored } of STORE_AREAS) Object.assign(settled, await restored?.(tx, restoring));
  return settled;
}
