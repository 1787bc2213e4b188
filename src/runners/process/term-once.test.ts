import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TermOnce, termDirOf } from './term-once.ts';

test('A process gets the signal once, from whichever of those that share the folder comes first', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-term-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [guard, rescuer] = [new TermOnce(termDirOf(join(dir, 'run'))), new TermOnce(termDirOf(join(dir, 'run')))];
  assert.equal(guard.claim(7, 100), true);
  assert.equal(guard.claim(7, 100), false);
  assert.equal(rescuer.claim(7, 100), false);
  // The same number is another process later.
  assert.equal(rescuer.claim(7, 200), true);
  assert.equal(new TermOnce(null).claim(7, 100), true);
});

test('The folder of a run that was removed is not made again, and the signal is sent', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-term-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const notes = termDirOf(join(dir, 'run.outer', 'run'));
  assert.equal(new TermOnce(notes).claim(7, 100), true);
  assert.deepEqual(readdirSync(dir), []);
});

test('Where nothing can be noted, telling twice is better than never', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-term-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'file'), '');
  assert.equal(new TermOnce(join(dir, 'file')).claim(7, 100), true);
});
