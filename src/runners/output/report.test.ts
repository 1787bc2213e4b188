import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { LINE_LIMIT_BYTES } from './lines.ts';
import { readReport } from './report.ts';

function read(bytesMax: number): { stream: PassThrough; lines: string[]; over: () => number } {
  const stream = new PassThrough();
  const lines: string[] = [];
  let over = 0;
  readReport(stream, { bytesMax, onLine: (line) => lines.push(line) }, () => (over += 1));
  return { stream, lines, over: () => over };
}

test('Each whole line of a report is handed on, however it is cut', async () => {
  const { stream, lines, over } = read(1_000);
  for (const part of ['{"a":1}\n{"b"', ':2}\n\n', '{"c":"ü', '"}\nunfinished']) stream.write(part);
  stream.end();
  await once(stream, 'close');
  assert.deepEqual(lines, ['{"a":1}', '{"b":2}', '', '{"c":"ü"}']);
  assert.equal(over(), 0);
});

test('A line over the limit is left out with all of its rest, and the next one is read', async () => {
  const { stream, lines } = read(10 * LINE_LIMIT_BYTES);
  stream.write(`before\n${'x'.repeat(3 * LINE_LIMIT_BYTES)}tail\nafter\nlast\n`);
  stream.end('y'.repeat(2 * LINE_LIMIT_BYTES));
  await once(stream, 'close');
  assert.deepEqual(lines, ['before', 'after', 'last']);
});

test('F14: a report over its limit is read no further, and that is said once', async () => {
  const { stream, lines, over } = read(100);
  stream.on('error', () => undefined);
  stream.write(`${'a'.repeat(50)}\n`);
  stream.write(`${'b'.repeat(50)}\n`);
  if (!stream.closed) await once(stream, 'close');
  assert.deepEqual(lines, ['a'.repeat(50)]);
  assert.deepEqual([over(), stream.destroyed], [1, true]);
});
