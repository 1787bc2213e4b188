/**
 * The disk of the data directory is full in the middle of an apply, and later it is not: a 64 MB one, in a mount
 * namespace.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { needs, OWN_MOUNTS } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'faults', 'disk-full-story.ts');
async function tell(t: TestContext, what: 'store' | 'everything'): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-full-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const story = [process.execPath, '--disable-warning=ExperimentalWarning', STORY, dir, what];
  const child = spawn('unshare', [...OWN_MOUNTS, ...story], { stdio: ['ignore', 'pipe', 'pipe'], signal: t.signal });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, said);
}

describe('On a full disk', { skip: needs('mount namespaces', 'terraform or tofu') }, () => {
  test(
    'F07: the store full: writes are 503, reads, health and streams go on, an apply waits for room with its ' +
      'state, and 5 s after it all works',
    (t) => tell(t, 'store'),
  );

  test('F07: everything full, also where terraform works: what it made is known', (t) => tell(t, 'everything'));
});
