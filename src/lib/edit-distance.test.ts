import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance } from './edit-distance.ts';

const ROWS: readonly (readonly [from: string, to: string, edits: number])[] = [
  ['list', 'list', 0],
  ['', 'list', 4],
  ['lsit', 'list', 1],
  ['lst', 'list', 1],
  ['lisst', 'list', 1],
  ['lost', 'list', 1],
  ['lost', 'past', 2],
  ['kitten', 'sitting', 3],
];

test('An addition, a loss, a replacement and a swap of neighbours count one each, in both directions', () => {
  for (const [from, to, edits] of ROWS) {
    assert.deepEqual([editDistance(from, to), editDistance(to, from)], [edits, edits], `${from} ${to}`);
  }
});
