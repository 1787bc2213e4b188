import { join } from 'node:path';
import type { CommandSpec } from '../../domain/commands/command.ts';
import type { HostResult } from '../../domain/commands/hosts.ts';
import { EVENT_FILE_VARIABLE } from '../../domain/commands/event-input.ts';
import { placeRunFile } from '../run-files/run-files.ts';
import { outcomeOf, type Runner } from '../runner.ts';
import { localOrder } from './local-order.ts';
import { type HostMaterials, KEY_FILE, runOnHosts } from './on-hosts.ts';

const EVENT_FILE = 'event.json';

/** The event that asked for the command. */
export interface EventMaterials {
  readonly file: Uint8Array;
  /** Its labels by the names of their variables. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The hosts of an inventory; on this machine, the event, and null where none asked for it. */
type CommandMaterials =
  { readonly hosts: HostMaterials } | { readonly hosts: null; readonly event: EventMaterials | null };

/** Runs the words of the spec on this machine, or on the hosts of an inventory. */
export const commandRunner: Runner<CommandSpec, CommandMaterials, readonly HostResult[], never> = {
  clearFiles: [KEY_FILE],
  async run({ spec, materials }, tools) {
    if (materials.hosts !== null) return runOnHosts(spec, materials.hosts, tools);
    const { event } = materials;
    const order = { ...localOrder(spec), widens: true } as const;
    if (event === null) return outcomeOf(await tools.exec(order));
    placeRunFile(tools.runDir, EVENT_FILE, event.file);
    const environment = { ...event.variables, [EVENT_FILE_VARIABLE]: join(tools.runDir, EVENT_FILE) };
    return outcomeOf(await tools.exec({ ...order, environment }));
  },
};
