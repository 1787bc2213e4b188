/** Targets of `--notify` that cannot work: the daemon does not start, and says which and why. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRefused } from '../../support/daemon.ts';

test('A daemon with a target that cannot work does not start; it names the target without credentials', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-targets-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const good = 'ntfy+https://:tk_s3cret@ntfy.example.com/ops';
  for (const [bad, why] of [
    ['smtp://me:s3cret@mail.example.com', 'has no recipient'],
    ['https://:s3cret@hooks.example.com/pages', 'has only a user or only a password; expected both or neither'],
  ] as const) {
    const { exitCode, stdout, stderr } = await startRefused({
      dataDir: join(dir, 'data'),
      env: { SVC_NOTIFY: `${good} ${bad}` },
    });
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, new RegExp(`--notify: target 2 ${why}`));
    assert.ok(!/s3cret/.test(stdout + stderr), 'a credential is printed');
  }
});
