/** States that are read in a thread, or not at all, because they are long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readStateBytes, readStateInThread } from './state-reader.ts';

const HEAD = '{"version":4,"serial":7,"lineage":"l","resources":[';
const LIMITS = { memoryMb: 256, limitMs: 60_000 };

/** A state of `count` resources, each of which has an instance with about 1 kB. */
function stateOf(count: number): Buffer {
  const one = JSON.stringify({ instances: [{ attributes: { text: 'some, [text] \\" { '.repeat(60) } }] });
  return Buffer.from(`${HEAD}${Array.from({ length: count }, () => one).join(',')}]}`);
}

/** A whole state in the way of the serial, with more objects than one of any infrastructure. */
function crumbs(count: number): Buffer {
  return Buffer.from(`${HEAD}${'{},'.repeat(count)}{}]}`);
}

describe('T97: long states', () => {
  test('T97: are read in a thread while the event loop is free, with the same bytes', async () => {
    const bytes = stateOf(2000);
    const copy = Buffer.from(bytes);
    const order: string[] = [];
    const reading = readStateBytes(bytes).finally(() => order.push('read'));
    setImmediate(() => order.push('turn of the event loop'));
    const state = (await reading) ?? assert.fail('it is a state');
    assert.deepEqual([state.serial, state.lineage, state.resources], [7, 'l', 2000]);
    assert.ok(state.bytes.equals(copy));
    assert.deepEqual(order, ['turn of the event loop', 'read']);
  });

  test('T97: of more values than infrastructure has are not parsed, nor is half of one', async () => {
    assert.equal(await readStateBytes(crumbs(5_000_000)), null);
    assert.equal(await readStateBytes(stateOf(2000).subarray(0, -1)), null);
  });

  test('T97: that need more memory or time than the thread may take end it, and not the process', async () => {
    assert.equal(await readStateInThread(crumbs(3_000_000), { ...LIMITS, memoryMb: 8 }), null);
    assert.equal(await readStateInThread(crumbs(3_000_000), { ...LIMITS, limitMs: 1 }), null);
    assert.equal((await readStateInThread(crumbs(10), LIMITS))?.serial, 7);
  });
});
