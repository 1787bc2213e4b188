/** Who may listen where: a surface that others reach needs a credential that is in force. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startWeb } from '../../../src/app/serve.ts';
import { openLocal } from '../../../src/app.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import type { Settings } from '../../../src/config/settings/settings.ts';
import { newId } from '../../../src/lib/id.ts';
import { insertToken } from '../../../src/store/access/tokens.ts';

function fresh(t: TestContext): (addr: string) => Settings {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-door-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return (addr) => readSettings({ 'data-dir': join(dir, 'data'), addr }, {});
}

async function createToken(settings: Settings, name: string, expiresAt: number | null): Promise<void> {
  const local = await openLocal(settings);
  const row = {
    id: newId('tok', Date.now()),
    name,
    owner: name,
    scope: 'operator' as const,
    salt: Buffer.alloc(16),
    hash: Buffer.alloc(40),
  };
  await local.runtime.store.write((tx) =>
    insertToken(tx, { ...row, version: 1, created_at: tx.now, expires_at: expiresAt, revoked_at: null, agent: null }),
  );
  await local.close();
}

test('T10: Without an active token an address that others reach is refused, with a way out', async (t) => {
  const settings = fresh(t);
  for (const addr of [
    '0.0.0.0:0',
    '[::]:0',
    ':0',
    '192.0.2.1:0',
    '[2001:db8::1]:0',
    '[::ffff:192.0.2.1]:0',
    'gatehouse.example:0',
  ]) {
    await assert.rejects(
      startWeb(settings(addr)),
      { code: 'invalid_argument', message: /no token is active.*svc token create/ },
      addr,
    );
  }
});

test('T10: A loopback address needs none', async (t) => {
  const settings = fresh(t);
  for (const addr of ['127.0.0.1:0', '127.1.2.3:0', 'localhost:0']) {
    const running = await startWeb(settings(addr));
    assert.equal((await fetch(`${running.webUrl}/api/v1/whoami`)).status, 401);
    await running.stop();
  }
});

test('T10: A token that has expired opens no door, one that is active does', async (t) => {
  const settings = fresh(t);
  // The first start makes the key that tokens belong to.
  await (await startWeb(settings('127.0.0.1:0'))).stop();
  const open = settings('0.0.0.0:0');
  await createToken(open, 'short', Date.now() - 1);
  await assert.rejects(startWeb(open), { code: 'invalid_argument' });
  await createToken(open, 'long', null);
  const running = await startWeb(open);
  assert.equal((await fetch(`${running.webUrl}/api/v1/whoami`)).status, 401);
  await running.stop();
});
