import { ALL, type Inventory, isMap, isNumber, type Vars, type VarValue } from './inventory.ts';

/** The name of the file: Ansible's plugin for YAML reads this ending, and its reader tries JSON first. */
export const INVENTORY_FILE = 'inventory.json';

/**
 * The inventory as a file for Ansible, written from what was read and never from the bytes of a user: JSON, which is
 * YAML too. It has the groups, hosts and variables in their order.
 */
export function renderInventory(inventory: Inventory): string {
  const { hosts, groups } = inventory;
  const seen = new Set<string>();
  const hostsOf = (names: readonly string[]): string =>
    object(
      names.map((name) => {
        // Its variables are needed once.
        const vars = seen.has(name) ? undefined : hosts.get(name);
        seen.add(name);
        return [name, vars === undefined ? '{}' : variables(vars)];
      }),
    );
  const written = [...groups].map(([name, group]): [string, string] => {
    const members = group.children.map((child): [string, string] => [child, '{}']);
    const vars = new Map(group.vars);
    if (group.priority !== 1) vars.set('ansible_group_priority', { number: String(group.priority) });
    return [
      name,
      object([
        ['hosts', hostsOf(group.hosts)],
        ['vars', variables(vars)],
        ['children', object(members)],
      ]),
    ];
  });
  // The groups below all come first in it: their order is that of the hosts of all.
  const all = written.find(([name]) => name === ALL);
  const others = written.filter(([name]) => name !== ALL);
  return `${object(all === undefined ? others : [...others, all])}\n`;
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
