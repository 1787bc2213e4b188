import { requireInventory, requireLimit } from '../../domain/commands/command.ts';
import type { Action } from '../../domain/rules/rule.ts';
import type { Tx } from '../../store/engine/gate.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';

/**
 * Checks that there is what an action names, when a rule or a schedule is defined: its job would be refused each time.
 * What is not `known` yet is left to the job. Throws not_found for a workspace or an inventory that there is not, and
 * invalid_argument for a limit that names no host of the inventory.
 */
export async function requireTargets(
  tx: Tx,
  action: Action,
  known: (text: string) => boolean = () => true,
): Promise<void> {
  if (action.kind === 'notify') return;
  if (action.kind !== 'command') {
    if (known(action.workspace)) await getWorkspace(tx.db, action.workspace);
    return;
  }
  const { inventory, limit } = action;
  if (!known(inventory)) return;
  requireInventory(inventory);
  if (limit !== null && known(limit)) requireLimit(inventory, limit);
}

/** Of a value in a rule: one with `${…}` is known with the event only. */
export function isWrittenOut(text: string): boolean {
  return !text.includes('${');
}
