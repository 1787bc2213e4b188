import type { CommandAction } from '../../domain/commands/action.ts';
import { reachOf } from '../../domain/actions/reach.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import type { ActionRow } from '../action-row.ts';
import { requireTargetHosts } from '../inventories/targets.ts';
import { queueCommand } from './queue.ts';

export const commandAction: ActionRow<CommandAction> = {
  runbook: (action) => commandKind.runbook({ ...action, egressPorts: [] }),
  requireTargets: requireTargetHosts,
  queue: (tx, deps, asker, { command, inventory, limit, isOfEvent, timeoutMs, ...reach }, gate) => {
    const targets = { inventory, limit, ...(isOfEvent === true ? { isOfEvent } : {}) };
    return queueCommand(tx, deps, asker, { ...targets, command, ...reachOf(reach), timeoutMs }, gate);
  },
};
