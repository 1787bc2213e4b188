import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAME_FILES } from '../../../../test/support/inventories/files.ts';
import { readInventory } from '../read.ts';
import { renderInventory } from '../render.ts';
import { readYamlInventory } from './read-yaml.ts';
import { writeYamlInventory } from './write-yaml.ts';

for (const [name, text] of Object.entries(SAME_FILES))
  test(`an inventory is read back as it was written: ${name}`, async () => {
    const inventory = await readInventory(text);
    const written = writeYamlInventory(inventory);
    const again = await readYamlInventory(written);
    assert.equal(renderInventory(again), renderInventory(inventory), written);
    assert.equal(writeYamlInventory(again), written);
  });

test('values that YAML would read as another type are quoted, and numbers stay numbers', async () => {
  const text = 'web:\n  hosts:\n    web1:\n      a: "yes"\n      b: "0644"\n      c: 1.0e+30\n      d: [x y, {k: ~}]\n';
  const written = writeYamlInventory(await readInventory(text));
  assert.equal(
    written,
    'web:\n  hosts:\n    web1:\n      a: "yes"\n      b: "0644"\n      c: 1.0e+30\n      d: ["x y", {k: null}]\n',
  );
});
