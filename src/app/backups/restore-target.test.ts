import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeTarget, requireEmptyTarget } from './restore-target.ts';

const KEY = 'a key\n';

test('What a restore leaves that is killed while it writes the key does not refuse the next one', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-restore-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const target = await makeTarget(dir);
  // As if it were killed there: it can write nothing more to its folder of unfinished files.
  rmSync(join(dir, '.restore'), { recursive: true });
  writeFileSync(join(dir, '.restore'), '');
  await assert.rejects(target.finish(KEY, true), { code: 'ENOTDIR' });
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.includes('seal.key')),
    [],
  );
  await requireEmptyTarget(dir, KEY);
});
