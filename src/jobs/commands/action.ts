import type { CommandAction } from '../../domain/commands/action.ts';
import { requireInventory, requireLimit } from '../../domain/commands/command.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import type { ActionRow } from '../action-row.ts';
import { queueCommand } from './queue.ts';

export const commandAction: ActionRow<CommandAction> = {
  runbook: (action) => commandKind.runbook({ ...action, egressPorts: [] }),
  requireTargets(_tx, { inventory, limit }, known) {
    if (known(inventory)) {
      requireInventory(inventory);
      if (limit !== null && known(limit)) requireLimit(inventory, limit);
    }
    return Promise.resolve();
  },
  queue: (tx, deps, asker, { command, inventory, limit, timeoutMs }, gate) =>
    queueCommand(tx, deps, asker, { command, inventory, limit, egressPorts: [], privileged: false, timeoutMs }, gate),
};
