import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inventoryIn, KINDS } from './kinds.ts';

function onHosts(inventory: string) {
  return { kind: 'command', spec: JSON.stringify({ command: ['true'], inventory, on: ['all'] }) };
}

test('an order names its inventory, and none where its row cannot be read', () => {
  assert.equal(inventoryIn(onHosts('prod')), 'prod');
  assert.equal(inventoryIn(onHosts('localhost')), null);
  for (const kind of [...Object.keys(KINDS), 'nothing', 'constructor'])
    for (const text of ['', 'null', '[]', '{'])
      assert.equal(inventoryIn({ kind, spec: text }), null, `${kind} ${text}`);
});
