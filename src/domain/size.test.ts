import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSize, parseSize } from './size.ts';

test('a size is a whole number of MiB or GiB', () => {
  assert.deepEqual([parseSize('512MiB'), parseSize('2GiB')], [512 * 2 ** 20, 2 * 2 ** 30]);
  for (const text of ['', '0MiB', '2', '2G', '2GB', '2 GiB', '-1GiB', '1.5GiB', '2gib', '12345678MiB', '2GiB\n'])
    assert.equal(parseSize(text), null, JSON.stringify(text));
});

test('a size is written in its largest unit, with one decimal where it needs one', () => {
  assert.deepEqual([2 ** 31, 1.5 * 2 ** 30, 200 * 2 ** 20, 2_048, 12].map(formatSize), [
    '2 GiB',
    '1.5 GiB',
    '200 MiB',
    '2 KiB',
    '12 bytes',
  ]);
});
