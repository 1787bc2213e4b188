/** Heads of the ledger that are kept outside show what was cut off inside. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');

const ledgerOf = (text: string): string => text.split('\n').find((line) => line.includes('audit_ledger')) ?? text;

test('T74: svc doctor --ledger-head finds rows that were cut off the end of the ledger', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-heads-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const data = join(dir, 'data');
  const heads = join(dir, 'heads.txt');
  const svc = (...args: string[]): string => {
    const { stdout, stderr } = spawnSync(SVC, args, {
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, SVC_DATA_DIR: data },
      encoding: 'utf8',
    });
    return stdout + stderr;
  };
  for (const name of ['ana', 'bob']) svc('token', 'create', '--name', name, '--scope', 'operator');
  const text = svc('audit', 'head');
  assert.match(text, /^main 2 [0-9a-f]{64}\n$/);
  writeFileSync(heads, text);
  assert.match(ledgerOf(svc('doctor', '--ledger-head', heads)), /ok.*1 kept head found/);
  const database = new DatabaseSync(join(data, 'gatehouse.db'));
  database.exec(
    'delete from ledger where seq = 2; update chains set length = 1, head = (select hash from ledger where seq = 1)',
  );
  database.close();
  assert.match(ledgerOf(svc('doctor')), /ok/);
  assert.match(
    ledgerOf(svc('doctor', '--ledger-head', heads)),
    /fail.*chain main: row 2, whose hash was kept, is missing/,
  );
  assert.match(svc('doctor', '--ledger-head', heads, '--remote', 'http://127.0.0.1:1'), /--ledger-head/);
});
