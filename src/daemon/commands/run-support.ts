import type { CommandSpec } from '../../domain/commands/command.ts';
import { NOTHING_PREPARED, type RunSupport } from '../jobs/run-support.ts';

export const commandSupport: RunSupport<CommandSpec, null, never, never> = {
  prepare: () => Promise.resolve(NOTHING_PREPARED),
};
