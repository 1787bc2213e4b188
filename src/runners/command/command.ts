import { join } from 'node:path';
import type { CommandSpec } from '../../domain/commands/command.ts';
import { EVENT_FILE_VARIABLE } from '../../domain/commands/event-input.ts';
import { placeRunFile } from '../run-files/run-files.ts';
import { outcomeOf, type Runner } from '../runner.ts';

/** A port that every command may reach: OpenSSH. */
const SSH_PORT = 22;
const EVENT_FILE = 'event.json';

/** The event that asked for the command; null where none did. */
export type CommandMaterials = {
  readonly file: Uint8Array;
  /** Its labels by the names of their variables. */
  readonly variables: Readonly<Record<string, string>>;
} | null;

/** Runs the words of the spec on this machine. */
export const commandRunner: Runner<CommandSpec, CommandMaterials, never, never> = {
  clearFiles: [],
  async run({ spec, materials }, tools) {
    const order = {
      argv: spec.command,
      connectPorts: [SSH_PORT, ...spec.egressPorts],
      // The port of OpenSSH was not asked for. A command that needs the network names its ports.
      unfiltered: spec.egressPorts.length === 0 ? ('offline' as const) : ('refused' as const),
    };
    if (materials === null) return outcomeOf(await tools.exec(order));
    placeRunFile(tools.runDir, EVENT_FILE, materials.file);
    const environment = { ...materials.variables, [EVENT_FILE_VARIABLE]: join(tools.runDir, EVENT_FILE) };
    return outcomeOf(await tools.exec({ ...order, environment }));
  },
};
