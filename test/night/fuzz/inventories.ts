/** Inventory files, which people write for Ansible, and limits. */
import assert from 'node:assert/strict';
import { connections } from '../../../src/domain/inventories/connection.ts';
import { type Inventory, INVENTORY_LIMITS } from '../../../src/domain/inventories/inventory.ts';
import { limitHosts } from '../../../src/domain/inventories/limit.ts';
import { readModel, writeModel } from '../../../src/domain/inventories/model-json.ts';
import { readYamlInventory } from '../../../src/domain/inventories/formats/read-yaml.ts';
import { writeYamlInventory } from '../../../src/domain/inventories/formats/write-yaml.ts';
import { readInventory } from '../../../src/domain/inventories/read.ts';
import { renderInventory } from '../../../src/domain/inventories/render.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { pieces, texts } from './texts.ts';

const INI = [
  '[web]\n',
  '[web:children]\n',
  '[db:vars]\n',
  '[all:vars]\n',
  '[db]\n',
  'web1\n',
  'web[01:20].example.org\n',
  'db\n',
  'db[a:f:2]\n',
  'h[0:99999999]\n',
  '[1:9][1:9][1:9][1:9]\n',
  'web2:22 ',
  'ansible_host=192.0.2.7 ',
  'ansible_port=22\n',
  'ansible_ssh_common_args=x\n',
  'x=1\n',
  'y="a b" ',
  "z=['a', {'b': (1, 2.5)}]\n",
  "r'\\d' 'x'\n",
  '# c\n',
  '; c\n',
  '[::1]:22\n',
  'x={{ y }}\n',
  '=',
  '"""',
];
const YAML = [
  'all:\n',
  '  hosts:\n',
  '    web[1:3]:\n',
  '      ansible_port: 22\n',
  '  vars:\n',
  '    a: 0x1F\n',
  '    b: [1, {c: d}]\n',
  '  children:\n',
  '    web:\n',
  '      hosts: {web1: , "10": }\n',
  'db: {hosts: {db1: {x: yes}}}\n',
  '---\n',
  '    !vault |\n',
  '    &a x\n',
  '    *a\n',
  '<<: *a\n',
  'plugin: x\n',
  'all: ',
  '{"all": {"hosts": {"h": null}}}',
  '1:30',
  '~',
];
const LIMITS = ['web1', 'db', 'all', 'ungrouped', '!', ',', '!db1', '*', '~', '&', '@', '[0]', ':', ' ', 'localhost'];

const SMALL = await readInventory('[web]\nweb1\nweb2\n[db]\ndb1\n[prod:children]\nweb\ndb\n');

/** Whatever was read has its form, and is the same after it was stored. */
async function holds(inventory: Inventory): Promise<void> {
  assert.ok(inventory.hosts.size > 0 && inventory.hosts.size <= INVENTORY_LIMITS.hosts);
  assert.ok(inventory.groups.size <= INVENTORY_LIMITS.groups);
  const written = writeModel(inventory);
  assert.equal(writeModel(readModel(written)), written);
  const rendered = renderInventory(inventory);
  JSON.parse(rendered);
  assert.doesNotMatch(rendered, /\{[{%#]/);
  const yaml = writeYamlInventory(inventory);
  if (Buffer.byteLength(yaml) <= INVENTORY_LIMITS.fileBytes)
    assert.equal(writeYamlInventory(await readYamlInventory(yaml)), yaml);
  for (const { address, user, port } of connections(inventory, [...inventory.hosts.keys()])) {
    assert.match(address, /^[A-Za-z0-9_:][A-Za-z0-9._:-]*$/);
    assert.ok(user === null || /^\w/.test(user));
    assert.ok(port > 0 && port < 65_536);
  }
}

export const INVENTORY_TARGETS: readonly FuzzTarget[] = [
  fuzzTarget(
    'inventory-ini',
    texts(INI),
    (text) => unlessRefused(async () => holds(await readInventory(text, 'ini'))),
    // A line of a range makes 10,000 hosts.
    { baseMs: 1_000, perCharacterMs: 0.05 },
  ),
  fuzzTarget(
    'inventory-yaml',
    texts(YAML),
    (text) => unlessRefused(async () => holds(await readInventory(text, 'yaml'))),
    { baseMs: 1_000, perCharacterMs: 0.05 },
  ),
  fuzzTarget('inventory-limit', pieces(LIMITS), (limit) =>
    unlessRefused(() => {
      const hosts = limitHosts('prod', SMALL, limit);
      assert.ok(hosts.length > 0 && hosts.every((host) => SMALL.hosts.has(host)));
    }),
  ),
];
