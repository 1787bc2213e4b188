import { commandKind } from '../../domain/commands/kind.ts';
import { type QueueRules, UNCHANGING } from '../queue-rules.ts';

export const COMMAND_RULES: QueueRules = {
  ...UNCHANGING,
  order: (_db, { spec }) => Promise.resolve(commandKind.readSpec(spec)),
};
