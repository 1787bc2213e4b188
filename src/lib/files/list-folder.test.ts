import assert from 'node:assert/strict';
import { Dir, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { someNames } from './list-folder.ts';

const isWanted = (name: string): boolean => name.startsWith('a');

test('T69: a list of names ends at its limit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-list-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (let n = 0; n < 2_000; n += 1) writeFileSync(join(folder, n % 2 === 0 ? `a${n}` : `b${n}`), '');
  const read = t.mock.method(Dir.prototype, 'read');
  const names = await someNames(folder, 5, isWanted);
  assert.deepEqual([names.length, names.every(isWanted)], [5, true]);
  assert.ok(read.mock.callCount() < 2_000);
  assert.equal((await someNames(folder, 5_000, isWanted)).length, 1_000);
});
