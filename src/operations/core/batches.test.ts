import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listInBatches, replyList } from './batches.ts';

/** Ids from the newest to the oldest, and each read that a list made of them. */
function rowsOf(count: number) {
  const ids = Array.from({ length: count }, (_, index) => String(count - index).padStart(4, '0'));
  const reads: (readonly [string | undefined, number])[] = [];
  const read = (before: string | undefined, rows: number) => {
    reads.push([before, rows]);
    const rest = before === undefined ? ids : ids.filter((id) => id < before);
    return Promise.resolve(rest.slice(0, rows).map((id) => ({ id })));
  };
  return { ids, reads, read };
}

const idOf = ({ id }: { readonly id: string }) => id;

function heads(count: number) {
  return listInBatches(rowsOf(count).read, ({ id }) => ({ chain: id, seq: 1, hash: id }));
}

test('a list has each row once, newest first, up to its limit', async () => {
  for (const count of [0, 1, 99, 100, 101, 250]) {
    for (const limit of [0, 1, 100, 101, 250, 1_000]) {
      const { ids, read } = rowsOf(count);
      const batches = await Array.fromAsync(listInBatches(read, idOf, limit));
      assert.deepEqual(batches.flat(), limit === 0 ? ids : ids.slice(0, limit), `${limit} of ${count}`);
      assert.ok(batches.every((batch) => batch.length > 0 && batch.length <= 100));
    }
  }
});

test('a batch is read when it is asked for, and nothing after the limit', async () => {
  const { read, reads } = rowsOf(250);
  const batches = listInBatches(read, idOf, 150);
  await batches.next();
  assert.deepEqual(reads, [[undefined, 100]]);
  await Array.fromAsync(batches);
  assert.deepEqual(reads, [
    [undefined, 100],
    ['0151', 50],
  ]);
});

test('a list of one batch is one body, and a longer one is sent in batches', async () => {
  const short = await replyList('audit.head', heads(100));
  assert.ok(short.shape === 'one' && Array.isArray(short.data) && short.data.length === 100);
  assert.deepEqual(await replyList('audit.head', heads(0)), { shape: 'one', kind: 'audit.head', data: [] });
  const long = await replyList('audit.head', heads(101));
  assert.ok(long.shape === 'batches');
  assert.equal((await Array.fromAsync(long.batches)).flat().length, 101);
});
