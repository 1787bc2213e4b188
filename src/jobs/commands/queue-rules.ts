import { commandKind } from '../../domain/commands/kind.ts';
import { selectsHosts } from '../inventories/targets.ts';
import { type QueueRules, UNCHANGING } from '../queue-rules.ts';

export const COMMAND_RULES: QueueRules = {
  ...UNCHANGING,
  stillHolds: (db, _approval, { spec }) => selectsHosts(db, commandKind.readSpec(spec)),
  order: (_db, { spec }) => Promise.resolve(commandKind.readSpec(spec)),
};
