import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { writeTree } from '../../../test/support/ansible/bare-run.ts';
import { giveTree, NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { sizeOf } from './folder-size.ts';

const LIMITS = { entries: 6, depth: 3 };
let parent: string;
let dir: string;

describe('The size of a folder of a run', () => {
  beforeEach(() => {
    parent = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-size-')));
    chmodSync(parent, 0o755);
    dir = join(parent, 'run');
    writeTree(dir, { 'a/x': 'xx', 'a/b/y': 'yyy', z: 'z' });
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  it('is that of its files, and infinite beyond a limit of entries or depth', async () => {
    assert.equal(await sizeOf(dir, LIMITS), 6);
    assert.equal(await sizeOf(dir, { ...LIMITS, entries: 4 }), Number.POSITIVE_INFINITY);
    assert.equal(await sizeOf(dir, { ...LIMITS, depth: 2 }), Number.POSITIVE_INFINITY);
    assert.equal(await sizeOf(join(parent, 'gone'), LIMITS), 0);
  });

  it('T23: is infinite where a folder is closed to the account of the run', { skip: NO_ROOT }, async () => {
    giveTree(dir, TEST_ACCOUNT);
    assert.equal(await sizeOf(dir, LIMITS), 6);
    for (const closed of ['.', 'a', 'a/b'])
      for (const mode of [0o300, 0o600, 0o000]) {
        chmodSync(join(dir, closed), mode);
        assert.equal(await sizeOf(dir, LIMITS), Number.POSITIVE_INFINITY, `${closed} ${mode.toString(8)}`);
        chmodSync(join(dir, closed), 0o700);
      }
  });
});
