/** The program in a separate folder, so that a test can change it. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..', '..');

export function copyOfTheProgram(t: TestContext): string {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Changes a file of the copy. Fails where there is nothing to change. */
export function replace(file: string, what: string | RegExp, by: string): void {
  const before = readFileSync(file, 'utf8');
  const after = before.replace(what, by);
  assert.notEqual(after, before);
  writeFileSync(file, after);
}
