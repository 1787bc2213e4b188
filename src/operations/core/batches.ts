import { requestTurn } from '../../lib/flow/cooperative.ts';
import { replyBatches, type Reply } from './reply.ts';
import type { ViewItem, ViewName } from '../../views/views.ts';

/**
 * Rows read at a time: a longer list is sent while it is read, so that memory does not grow with it. Batches that are
 * under way during a garbage collection stay in memory for long: a list of 300,000 events took 104 MB with 500 rows and
 * 64 MB with 100.
 */
const BATCH_ROWS = 100;

/** Reads rows by their ids, newest first, `limit` in all; 0 reads all. `before` is the last id that was read. */
export async function* listInBatches<Row extends { readonly id: string }, Item>(
  read: (before: string | undefined, rows: number) => Promise<readonly Row[]>,
  view: (row: Row) => Item,
  limit = 0,
): AsyncGenerator<Item[]> {
  let before: string | undefined;
  for (let left = limit === 0 ? Number.POSITIVE_INFINITY : limit; left > 0; left -= BATCH_ROWS) {
    // On SQLite reading takes the thread: others have their turn in between.
    if (before !== undefined) await requestTurn();
    const size = Math.min(BATCH_ROWS, left);
    const rows = await read(before, size);
    if (rows.length > 0) yield rows.map(view);
    if (rows.length < size) return;
    before = rows.at(-1)?.id;
  }
}

/** Answers a list: as one body if it has one batch, else in batches. */
export async function replyList<V extends ViewName>(
  kind: V,
  batches: AsyncGenerator<readonly ViewItem<V>[]>,
): Promise<Reply> {
  const first = await batches.next();
  if (first.done === true) return { shape: 'one', kind, data: [] };
  const second = await batches.next();
  if (second.done === true) return { shape: 'one', kind, data: first.value };
  return replyBatches(kind, resume([first.value, second.value], batches));
}

async function* resume<T>(head: readonly T[], rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield* head;
  yield* rest;
}
