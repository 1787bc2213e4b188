import type { CommandAction } from '../../domain/commands/action.ts';
import { reachOf } from '../../domain/actions/reach.ts';
import { givenReveal } from '../../domain/actions/reveal.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import type { ActionRow } from '../action-row.ts';
import { requireTargetHosts } from '../inventories/targets.ts';
import { queueCommand } from './queue.ts';

export const commandAction: ActionRow<CommandAction> = {
  runbook: (action) => commandKind.runbook({ ...action, egressPorts: [] }),
  requireTargets: requireTargetHosts,
  queue: (queueing, { command, inventory, limit, isOfEvent, timeoutMs, reveal, ...reach }) => {
    const targets = { inventory, limit, ...(isOfEvent === true ? { isOfEvent } : {}) };
    return queueCommand(queueing, { ...targets, command, ...givenReveal({ reveal }), ...reachOf(reach), timeoutMs });
  },
};
