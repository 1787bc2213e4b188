import type { CommandSpec } from '../../domain/commands/command.ts';
import { SSH_PORT } from '../../domain/inventories/connection.ts';
import type { ProgramOrder } from '../runner.ts';

/** How the words of a command run on this machine. */
export function localOrder({ command, writable = [], egressPorts }: CommandSpec): ProgramOrder {
  return {
    argv: command,
    writable,
    connectPorts: [SSH_PORT, ...egressPorts],
    // The port of OpenSSH was not asked for. A command that needs the network names its ports.
    unfiltered: egressPorts.length === 0 ? 'offline' : 'refused',
  };
}
