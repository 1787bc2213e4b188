import { ALL, type Inventory, isMap, isNumber, type Vars, type VarValue } from './inventory.ts';
import { PRIORITY } from './variables.ts';

/** The name of the file: Ansible's plugin for YAML reads this ending, and its reader tries JSON first. */
export const INVENTORY_FILE = 'inventory.json';

/** A group as files have it: each host with its variables where it is first named, and with none later. */
interface GroupPart {
  readonly name: string;
  readonly hosts: readonly (readonly [name: string, vars: Vars])[];
  readonly vars: Vars;
  readonly children: readonly string[];
}

/** The groups of a file, `all` last: the groups below all come first, and their order is that of the hosts of all. */
export function groupParts({ hosts, groups }: Inventory): GroupPart[] {
  const seen = new Set<string>();
  const hostsOf = (names: readonly string[]): GroupPart['hosts'] =>
    names.map((name) => {
      const vars = seen.has(name) ? undefined : hosts.get(name);
      seen.add(name);
      return [name, vars ?? NO_VARS];
    });
  const parts = [...groups].map(([name, group]) => {
    const vars = new Map(group.vars);
    if (group.priority !== 1) vars.set(PRIORITY, { number: String(group.priority) });
    return { name, hosts: hostsOf(group.hosts), vars, children: group.children };
  });
  return [...parts.filter(({ name }) => name !== ALL), ...parts.filter(({ name }) => name === ALL)];
}

const NO_VARS: Vars = new Map();

/**
 * The inventory as a file for Ansible, written from what was read and never from the bytes of a user: JSON, which is
 * YAML too. It has the groups, hosts and variables in their order.
 */
export function renderInventory(inventory: Inventory): string {
  const written = groupParts(inventory).map(({ name, hosts, vars, children }): [string, string] => [
    name,
    object([
      ['hosts', object(hosts.map(([host, own]) => [host, variables(own)]))],
      ['vars', variables(vars)],
      ['children', object(children.map((child) => [child, '{}']))],
    ]),
  ]);
  return `${object(written)}\n`;
}

function variables(vars: Vars): string {
  return object([...vars].map(([name, value]) => [name, valueText(value)]));
}

function valueText(value: VarValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isNumber(value)) return value.number;
  if (isMap(value)) return variables(value.fields);
  return `[${value.map(valueText).join(',')}]`;
}

function object(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
