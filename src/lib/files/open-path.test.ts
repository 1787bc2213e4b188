import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { needs } from '../../../test/support/tools.ts';
import { errorCode } from '../error-code.ts';
import { LinkInPath, openPlace } from './open-path.ts';

async function inodeOf(path: string): Promise<number> {
  const fd = await openPlace(path);
  try {
    return fstatSync(fd).ino;
  } finally {
    closeSync(fd);
  }
}

async function codeOf(path: string): Promise<string | null> {
  return errorCode(await inodeOf(path).catch((error: unknown) => error));
}

describe('A path that is opened part by part', { skip: needs('Linux') }, () => {
  let base: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-open-path-'));
    mkdirSync(join(base, 'a/b'), { recursive: true });
    writeFileSync(join(base, 'a/b/file'), 'text');
  });
  afterEach(() => rmSync(base, { recursive: true }));

  it('T86: leads to what is there, and through no link in any part', async () => {
    for (const path of [base, join(base, 'a/b'), join(base, 'a/b/file'), `${base}//a/./b`])
      assert.equal(await inodeOf(path), statSync(path).ino, path);
    symlinkSync('b', join(base, 'a/l'));
    for (const path of ['a/l', 'a/l/file', 'a/l/']) await assert.rejects(inodeOf(join(base, path)), LinkInPath, path);
    assert.equal(await codeOf(join(base, 'a/none')), 'ENOENT');
    assert.equal(await codeOf(join(base, 'a/b/file/x')), 'ENOTDIR');
  });
});
