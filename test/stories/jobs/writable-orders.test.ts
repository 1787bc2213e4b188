/** Orders that may write outside their run, on a real daemon in a mount namespace. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs, OWN_MOUNTS } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'faults', 'writable-story.ts');

test(
  'T34: a rule cleans a full disk that its order names, and nothing else: not by a link, another name or the database',
  { skip: needs('mount namespaces', 'Landlock ABI 4') },
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-writable-'));
    chmodSync(dir, 0o711);
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const story = [process.execPath, '--disable-warning=ExperimentalWarning', STORY, dir];
    const child = spawn('unshare', [...OWN_MOUNTS, ...story], { stdio: ['ignore', 'pipe', 'pipe'], signal: t.signal });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, said);
  },
);
