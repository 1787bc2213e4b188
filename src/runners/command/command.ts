import type { CommandSpec } from '../../domain/commands/command.ts';
import { outcomeOf, type Runner } from '../runner.ts';

/** Ports that every command may reach: OpenSSH. */
const SSH_PORT = 22;

/** Runs the words of the spec on this machine. */
export const commandRunner: Runner<CommandSpec, null, never, never> = {
  clearFiles: [],
  async run({ spec }, tools) {
    return outcomeOf(await tools.exec({ argv: spec.command, connectPorts: [SSH_PORT, ...spec.egressPorts] }));
  },
};
