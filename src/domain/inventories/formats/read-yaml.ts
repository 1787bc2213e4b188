import { readYaml, type YamlLimits, type YamlMap, type YamlValue } from '../../yaml/file.ts';
import { InventoryBuilder } from '../builder.ts';
import { type Inventory, INVENTORY_LIMITS, type VarValue } from '../inventory.ts';
import { quoted, refusedAt } from '../refused.ts';
import { scalar } from './yaml-value.ts';

/**
 * Groups and values are nested; the reader of YAML calls itself for each level. 10,000 hosts with three variables each
 * have 80,000 tokens.
 */
const LIMITS: YamlLimits = {
  bytesMax: INVENTORY_LIMITS.fileBytes,
  bracketsMax: 50_000,
  tokensMax: 160_000,
  depthMax: 60,
  aliases: true,
};

/** Reads an inventory as Ansible's plugin `yaml` does. Throws invalid_argument that names the line. */
export async function readYamlInventory(text: string): Promise<Inventory> {
  const file = await readYaml(text, LIMITS);
  if (file.kind !== 'map') throw refusedAt(file.line, 'expected groups, as in "all:" with "hosts:" below it');
  const plugin = file.fields.get('plugin');
  if (plugin !== undefined)
    throw refusedAt(
      plugin.line,
      'this is the configuration of a plugin; an inventory is data, and no program makes it',
    );
  const builder = new InventoryBuilder();
  for (const [name, value] of file.fields) readGroup(builder, name, value);
  return builder.finish();
}

function readGroup(builder: InventoryBuilder, name: string, value: YamlValue): void {
  builder.group(name, value.line);
  for (const [part, each] of partsOf(value, `group ${quoted(name)}`)) {
    if (part === 'hosts') readHosts(builder, name, each);
    else if (part === 'vars')
      for (const [variable, one] of partsOf(each, 'vars'))
        builder.groupVariable(name, variable, valueOf(one), one.line);
    else if (part === 'children')
      for (const [child, one] of partsOf(each, 'children')) {
        readGroup(builder, child, one);
        builder.child(name, child, one.line);
      }
    else throw refusedAt(each.line, `group ${quoted(name)}: ${quoted(part)} is not one of hosts, children, vars`);
  }
}

function readHosts(builder: InventoryBuilder, group: string, value: YamlValue): void {
  for (const [pattern, each] of partsOf(value, 'hosts')) {
    const hosts = builder.hosts(group, pattern, each.line);
    for (const [variable, one] of partsOf(each, `host ${quoted(pattern)}`))
      builder.hostVariable(hosts, variable, valueOf(one), one.line);
  }
}

/** The fields of a map. Nothing at all is an empty one, and a text is a map of that name alone. */
function partsOf(value: YamlValue, what: string): YamlMap['fields'] {
  if (value.kind === 'map') return value.fields;
  if (value.kind === 'text') {
    const read = scalar(value);
    if (read === null) return new Map();
    if (typeof read === 'string' && ['hosts', 'children'].includes(what))
      return new Map([[read, { ...value, text: '', type: 'null', isPlain: true }]]);
  }
  throw refusedAt(value.line, `${what}: expected names with a colon behind each, one on a line`);
}

function valueOf(value: YamlValue): VarValue {
  if (value.kind === 'text') return scalar(value);
  if (value.kind === 'list') return value.items.map(valueOf);
  return { fields: new Map([...value.fields].map(([name, each]) => [name, valueOf(each)])) };
}
