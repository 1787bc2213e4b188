import { commandKind } from '../../domain/commands/kind.ts';
import { commandRunner } from '../../runners/command/command.ts';
import { NOTHING_PREPARED, runKind } from '../jobs/run-support.ts';

export const COMMAND_RUN = runKind(commandKind, commandRunner, { prepare: () => Promise.resolve(NOTHING_PREPARED) });
