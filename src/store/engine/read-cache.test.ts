import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whileUnchanged } from './read-cache.ts';

describe('An answer that is kept while the table is unchanged', () => {
  test('is read once for each key, also where there is nothing', async () => {
    let version = '1';
    const reads: string[] = [];
    const find = whileUnchanged({ version: () => version }, 'webhooks', async (key) => {
      reads.push(key);
      return key === 'none' ? undefined : key.length;
    });
    assert.deepEqual(
      [await find('ab'), await find('ab'), await find('none'), await find('none')],
      [2, 2, undefined, undefined],
    );
    assert.deepEqual(reads, ['ab', 'none']);
    version = '2';
    await find('ab');
    assert.deepEqual(reads, ['ab', 'none', 'ab']);
  });

  test('is not what was read before a commit that came in between', async () => {
    let version = '1';
    let row = 'old';
    const held = Promise.withResolvers<void>();
    let waits = true;
    const find = whileUnchanged({ version: () => version }, 'webhooks', async () => {
      const read = row;
      if (waits) await held.promise;
      return read;
    });
    const early = find('a');
    [version, row, waits] = ['2', 'new', false];
    assert.equal(await find('a'), 'new');
    held.resolve();
    assert.equal(await early, 'old');
    assert.equal(await find('a'), 'new');
  });

  test('does not exist where the store has no version', async () => {
    let reads = 0;
    const find = whileUnchanged({ version: () => null }, 'webhooks', async () => (reads += 1));
    assert.deepEqual([await find('a'), await find('a')], [1, 2]);
  });
});
