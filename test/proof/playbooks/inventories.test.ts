/** Inventory files: Ansible reads of them what the service reads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connections } from '../../../src/domain/inventories/connection.ts';
import { readModel, writeModel } from '../../../src/domain/inventories/model-json.ts';
import { readInventory } from '../../../src/domain/inventories/read.ts';
import { INVENTORY_FILE, renderInventory } from '../../../src/domain/inventories/render.ts';
import { SAME_FILES } from '../../support/inventories/files.ts';
import { needs } from '../../support/tools.ts';

interface Listed {
  readonly hostvars: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

let dir = '';

/** What Ansible reads of a file, with its own plugins for YAML and INI. */
function listed(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  const environment = { PATH: process.env['PATH'] ?? '', HOME: dir, LC_ALL: 'C.UTF-8' };
  const ran = spawnSync('ansible-inventory', ['-i', file, '--list'], {
    encoding: 'utf8',
    env: { ...environment, ANSIBLE_INVENTORY_ENABLED: 'yaml,ini' },
  });
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
  return ran.stdout;
}

describe('An inventory file that Ansible reads', { skip: needs('ansible-inventory') }, () => {
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-inventory-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  for (const [name, text] of Object.entries(SAME_FILES))
    test(`is read alike, and written so that Ansible reads the same again: ${name}`, async () => {
      const inventory = await readInventory(text);
      assert.deepEqual(readModel(writeModel(inventory)), inventory);
      const theirs = listed(name, text);
      assert.equal(listed(INVENTORY_FILE, renderInventory(inventory)), theirs);
      const { _meta: meta } = JSON.parse(theirs) as { readonly _meta: Listed };
      for (const { host, address, port, user } of connections(inventory, [...inventory.hosts.keys()])) {
        const vars = meta.hostvars[host] ?? {};
        const expected = [vars['ansible_host'] ?? host, vars['ansible_port'] ?? 22, vars['ansible_user'] ?? null];
        assert.deepEqual([address, port, user], expected, host);
      }
    });
});
