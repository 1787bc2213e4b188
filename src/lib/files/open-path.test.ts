import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { needs } from '../../../test/support/tools.ts';
import { errorCode } from '../error-code.ts';
import { LinkInPath, openPlace, openSettled } from './open-path.ts';

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

async function textOf(path: string): Promise<string> {
  await using file = await openSettled(path);
  return await file.readFile('utf8');
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

  it('T86: a file of the service is read through links of its account, relative, absolute and in a row', async () => {
    symlinkSync('../a/b', join(base, 'a/up'));
    symlinkSync(join(base, 'a/up'), join(base, 'whole'));
    symlinkSync('whole/file', join(base, 'file'));
    assert.equal(await textOf(join(base, 'file')), 'text');
    symlinkSync('loop', join(base, 'loop'));
    await assert.rejects(textOf(join(base, 'loop')), LinkInPath);
    await assert.rejects(textOf(join(base, 'none')), (error) => errorCode(error) === 'ENOENT');
  });

  it('T86: a link in a folder that others may write is not followed, unless only its owner may exchange it', async () => {
    symlinkSync('b/file', join(base, 'a/l'));
    chmodSync(join(base, 'a'), 0o777);
    await assert.rejects(textOf(join(base, 'a/l')), LinkInPath);
    chmodSync(join(base, 'a'), 0o1777);
    assert.equal(await textOf(join(base, 'a/l')), 'text');
  });

  it('T86: a link of another account, and one in a folder of it, is not followed', { skip: NO_ROOT }, async () => {
    symlinkSync('b/file', join(base, 'a/l'));
    lchownSync(join(base, 'a/l'), TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    await assert.rejects(textOf(join(base, 'a/l')), LinkInPath);
    lchownSync(join(base, 'a/l'), 0, 0);
    assert.equal(await textOf(join(base, 'a/l')), 'text');
    lchownSync(join(base, 'a'), TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    await assert.rejects(textOf(join(base, 'a/l')), LinkInPath);
    assert.equal(await textOf(join(base, 'a/b/file')), 'text');
  });
});
