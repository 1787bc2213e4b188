/** A verb that only reads makes nothing on a machine without a data directory. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');

test('Reading verbs refuse a missing data directory, the doctor reports it, and a write makes it', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-reading-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const data = join(dir, 'data');
  const svc = (...args: string[]) =>
    spawnSync(SVC, args, {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: dir, SVC_DATA_DIR: data, SVC_OUTPUT: 'json' },
    });

  for (const verb of ['job list', 'config export', 'approval watch', 'token list']) {
    const { status, stdout } = svc(...verb.split(' '));
    assert.equal(status, 3, `${verb}: ${stdout}`);
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
    assert.equal(error.code, 'not_found');
    assert.ok(error.message.startsWith(`There is no data directory ${data}`), error.message);
  }
  const doctor = JSON.parse(svc('doctor').stdout) as { data: { name: string; status: string }[] };
  assert.equal(doctor.data.find(({ name }) => name === 'store')?.status, 'fail');
  assert.equal(svc('version').status, 0);
  assert.equal(existsSync(data), false);

  assert.equal(svc('token', 'create', '--name', 'ana', '--scope', 'readonly').status, 0);
  assert.equal(svc('job', 'list').status, 0);
});
