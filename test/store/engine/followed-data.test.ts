import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentHolder, inNameOf } from '../../../src/lib/flow/in-name-of.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { FollowedData, type FollowedStore } from '../../../src/store/engine/followed-data.ts';

test('T87: what is kept of a store is read in no name, whose request ever needed it first', async () => {
  const store = { db: {}, version: () => null, onForeignCommit: () => () => undefined } as unknown as FollowedStore;
  const names: (string | undefined)[] = [];
  const noted = async (): Promise<string> => {
    names.push(currentHolder()?.holder);
    return String(names.length);
  };
  const data = new FollowedData(store, systemClock, { tables: ['jobs'], mark: noted, read: noted });
  const holder = { holder: 'ana', next: () => Promise.resolve() };
  await inNameOf(holder, async () => {
    const first = data.current();
    // It waits for the first, and begins the next.
    const second = data.current();
    await first;
    data.forget();
    await second;
  });
  assert.ok(names.length >= 2);
  assert.deepEqual([...new Set(names)], [undefined]);
});
