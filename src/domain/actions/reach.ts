import { writableFault, writablePaths } from '../jobs/writable.ts';
import { refused, textOf } from '../yaml/fields.ts';
import type { YamlMap } from '../yaml/file.ts';
import { ActionRefused } from './action-refused.ts';
import { FLAG, SCALARS } from './action-row.ts';

/** What an action may reach beside the sandbox of every job. A field without effect is not stored. */
export interface Reach {
  /** TCP ports besides 22, each once and sorted. */
  readonly egressPorts?: readonly number[];
  /** The job runs outside the sandbox. */
  readonly privileged?: boolean;
  /** Directories outside its run that the job may write. */
  readonly writable?: readonly string[];
}

/** The fields of a file that say so. */
export const REACH_NAMES = ['egress_ports', 'privileged', 'writable'] as const;
export const REACH_SCHEMAS = {
  egress_ports: { type: 'array', items: { type: ['integer', 'string'] } },
  privileged: FLAG,
  writable: SCALARS,
};

export const BOTH_FAULT = 'expected only without privileged: a privileged job has no sandbox';

const EGRESS_PORTS_MAX = 64;

/** With every field, and false or empty where the action says nothing. */
export function reachOf({ egressPorts = [], privileged = false, writable = [] }: Reach): Required<Reach> {
  return { egressPorts, privileged, writable };
}

/** Only what says something, as it is stored. */
export function givenReach({ egressPorts = [], privileged = false, writable = [] }: Reach): Reach {
  return {
    ...(egressPorts.length > 0 ? { egressPorts } : {}),
    ...(privileged ? { privileged } : {}),
    ...(writable.length > 0 ? { writable } : {}),
  };
}

/** The directories that an action of any kind may write. */
export function writableOf(action: object): readonly string[] {
  return (action as Reach).writable ?? [];
}

/** Reads the fields of a file. Throws invalid_argument. */
export function readReach(map: YamlMap, prefix: string): Reach {
  return givenReach({
    egressPorts: readPorts(map, prefix),
    privileged: readFlag(map, 'privileged', prefix),
    writable: readFolders(map, prefix),
  });
}

/** The fields of a file that are read as these. */
export function writeReach(reach: Reach): Readonly<Record<string, unknown>> {
  const { egressPorts, privileged, writable } = givenReach(reach);
  return {
    ...(egressPorts === undefined ? {} : { egress_ports: egressPorts }),
    ...(privileged === undefined ? {} : { privileged }),
    ...(writable === undefined ? {} : { writable }),
  };
}

/** Throws ActionRefused. None of these fields takes a value of an event. */
export function checkReach(reach: Reach): void {
  const { privileged, writable } = reachOf(reach);
  const fault = writable.some((path) => path.includes('${')) ? '${…} is not accepted here' : writableFault(writable);
  if (fault !== null) throw new ActionRefused('writable', fault);
  if (privileged && writable.length > 0) throw new ActionRefused('writable', BOTH_FAULT);
}

export function readFlag(map: YamlMap, named: string, prefix: string, fallback = false): boolean {
  const value = map.fields.get(named);
  if (value === undefined) return fallback;
  const text = value.kind === 'text' && value.type === 'boolean' ? value.text.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw refused(`${prefix}${named}`, value, 'expected true or false');
  return text === 'true';
}

function readPorts(map: YamlMap, prefix: string): number[] {
  const value = map.fields.get('egress_ports');
  if (value === undefined) return [];
  const named = `${prefix}egress_ports`;
  if (value.kind !== 'list') throw refused(named, value, 'expected a list of ports');
  if (value.items.length > EGRESS_PORTS_MAX) throw refused(named, value, `expected at most ${EGRESS_PORTS_MAX} ports`);
  const ports = value.items.map((item) => {
    const text = textOf(named, item);
    const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535) throw refused(named, item, 'expected a port, 1 to 65535');
    return port;
  });
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

function readFolders(map: YamlMap, prefix: string): string[] {
  const value = map.fields.get('writable');
  if (value === undefined) return [];
  const named = `${prefix}writable`;
  if (value.kind !== 'list') throw refused(named, value, 'expected a list of directories');
  const texts = value.items.map((item) => textOf(named, item));
  const fault = texts.some((text) => text.includes('${')) ? '${…} is not accepted here' : writableFault(texts);
  if (fault !== null) throw refused(named, value, fault);
  return writablePaths(texts);
}
