import { ALL, type Inventory, isMap, isNumber, UNGROUPED, type Vars, type VarValue } from '../inventory.ts';
import { groupParts } from '../render.ts';
import { scalar } from './yaml-value.ts';

/** Characters that have no meaning in YAML. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_.@/+-]*$/;

/** The inventory as a YAML file for people, the same for the same inventory. `readYamlInventory` reads it back. */
export function writeYamlInventory(inventory: Inventory): string {
  return groupParts(inventory)
    .filter(({ name, hosts, vars, children }) => {
      const isEmpty = hosts.length === 0 && vars.size === 0 && children.length === 0;
      return !isEmpty || (name !== ALL && name !== UNGROUPED);
    })
    .map(({ name, hosts, vars, children }) =>
      [
        `${text(name)}:\n`,
        ...section('hosts', hosts, ([host, own]) => `    ${text(host)}:\n${variables(own, '      ')}`),
        ...(vars.size === 0 ? [] : ['  vars:\n', variables(vars, '    ')]),
        ...section('children', children, (child) => `    ${text(child)}:\n`),
      ].join(''),
    )
    .join('');
}

function section<T>(name: string, entries: readonly T[], write: (entry: T) => string): string[] {
  return entries.length === 0 ? [] : [`  ${name}:\n`, ...entries.map(write)];
}

function variables(vars: Vars, indent: string): string {
  return [...vars].map(([name, value]) => `${indent}${text(name)}: ${valueText(value)}\n`).join('');
}

/** Without quotes where it then is the same text, also for Ansible, to which `yes` is true. */
function text(value: string): string {
  const isText =
    PLAIN.test(value) && scalar({ kind: 'text', line: 1, text: value, type: 'string', isPlain: true }) === value;
  return isText ? value : JSON.stringify(value);
}

function valueText(value: VarValue): string {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // A power of ten without a point is a text in YAML 1.1.
  if (isNumber(value)) return value.number.replace(/^(-?\d+)(?=[eE])/, '$1.0');
  if (isMap(value))
    return `{${[...value.fields].map(([name, each]) => `${text(name)}: ${valueText(each)}`).join(', ')}}`;
  return `[${value.map(valueText).join(', ')}]`;
}
