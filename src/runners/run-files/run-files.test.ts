import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { ACCOUNTS, giveTree, nameOf, NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import {
  hasRunEntry,
  placeRunFile,
  readRunFile,
  removeRunFile,
  resolveRunFolder,
  versionOfRunFile,
  writeRunFile,
} from './run-files.ts';
import { unlinkIn } from './unlink-in.ts';

const MAX = 1_000;

/** A run directory with `tree/a`, and a folder outside of it with a file. */
function scene(t: TestContext, account: AccountIds | null): { run: string; outside: string } {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-run-files-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [run, outside] = [join(dir, 'run'), join(dir, 'outside')];
  mkdirSync(join(run, 'tree', 'a'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'outside');
  for (const folder of [dir, outside]) chmodSync(folder, 0o711);
  giveTree(run, account);
  return { run, outside };
}

for (const account of ACCOUNTS) {
  describe(`A run ${nameOf(account)}`, () => {
    test('T62: no part of a path is followed when it is a link, for any operation', async (t) => {
      const { run, outside } = scene(t, account);
      symlinkSync(outside, join(run, 'tree', 'link'));
      symlinkSync(join(outside, 'file'), join(run, 'tree', 'file'));
      for (const path of ['tree/link/file', 'tree/file']) await assert.rejects(readRunFile(run, path, MAX), path);
      await assert.rejects(writeRunFile(run, 'tree/link/new', Buffer.from('x')));
      await assert.rejects(removeRunFile(run, 'tree/link/file'));
      assert.equal(await hasRunEntry(run, 'tree/link/file'), false);
      assert.equal(await versionOfRunFile(run, 'tree/link/file'), '');
      await assert.rejects(readRunFile(run, '../outside/file', MAX), /one entry/);
      await writeRunFile(run, 'tree/file', Buffer.from('mine'));
      assert.deepEqual(
        [readFileSync(join(outside, 'file'), 'utf8'), (await readRunFile(run, 'tree/file', MAX)).toString()],
        ['outside', 'mine'],
      );
      unlinkIn({ folder: join(run, 'tree', 'link'), name: 'file' });
      assert.equal(existsSync(join(outside, 'file')), true);
    });

    test('T62: a file that is placed replaces nothing, follows no link, and is for its owner', (t) => {
      const { run, outside } = scene(t, account);
      placeRunFile(run, 'new', Buffer.from('x'));
      const { mode, uid } = statSync(join(run, 'new'));
      assert.deepEqual([readFileSync(join(run, 'new'), 'utf8'), mode & 0o777], ['x', 0o600]);
      assert.equal(uid, account?.uid ?? process.getuid?.());
      symlinkSync(join(outside, 'other'), join(run, 'link'));
      symlinkSync(run, join(outside, 'run'));
      for (const name of ['new', 'link']) assert.throws(() => placeRunFile(run, name, Buffer.from('y')), /EEXIST/);
      assert.throws(() => placeRunFile(join(outside, 'run'), 'far', Buffer.from('y')), /ENOTDIR|ELOOP/);
      assert.deepEqual([existsSync(join(outside, 'other')), existsSync(join(run, 'far'))], [false, false]);
    });

    test('A run directory that is a link itself is not opened', async (t) => {
      const { run, outside } = scene(t, account);
      symlinkSync(outside, `${run}-link`);
      await assert.rejects(readRunFile(`${run}-link`, 'file', MAX));
    });

    test('A file is read up to its limit, written for its owner only, and removed', async (t) => {
      const { run } = scene(t, account);
      await writeRunFile(run, 'tree/a/file', Buffer.alloc(MAX));
      assert.equal(statSync(join(run, 'tree/a/file')).mode & 0o777, 0o600);
      assert.equal((await readRunFile(run, 'tree/a/file', MAX)).length, MAX);
      await assert.rejects(readRunFile(run, 'tree/a/file', MAX - 1), /at most 999 bytes/);
      await assert.rejects(readRunFile(run, 'tree/a', MAX));
      for (const _ of [1, 2]) await removeRunFile(run, 'tree/a/file');
      assert.equal(await hasRunEntry(run, 'tree/a/file'), false);
    });

    test('What is written replaces a hard link and does not write through it', async (t) => {
      const { run, outside } = scene(t, account);
      linkSync(join(outside, 'file'), join(run, 'tree', 'file'));
      chmodSync(join(outside, 'file'), 0o640);
      await writeRunFile(run, 'tree/file', Buffer.from('mine'));
      assert.deepEqual(
        [readFileSync(join(outside, 'file'), 'utf8'), statSync(join(outside, 'file')).mode & 0o777],
        ['outside', 0o640],
      );
    });

    test('Links of a checkout that stay in the run are resolved once, all others are refused', async (t) => {
      const { run, outside } = scene(t, account);
      mkdirSync(join(run, 'tree', 'shared', 'prod'), { recursive: true });
      const links: Record<string, string> = {
        prod: 'shared/prod',
        twice: 'a/../prod',
        up: '../tree/prod/',
        out: '../../outside',
        far: outside,
        loop: 'loop',
        all: '..',
      };
      for (const [name, target] of Object.entries(links)) symlinkSync(target, join(run, 'tree', name));
      writeFileSync(join(run, 'tree', 'file'), '');
      for (const name of ['prod', 'twice', 'up', 'shared//./prod'])
        assert.equal(await resolveRunFolder(run, `tree/${name}`), 'tree/shared/prod', name);
      assert.equal(await resolveRunFolder(run, 'tree/'), 'tree');
      for (const name of ['out', 'far', 'all'])
        await assert.rejects(resolveRunFolder(run, `tree/${name}`), { isOutside: true }, name);
      for (const name of ['loop', 'file', 'missing', 'file/a'])
        await assert.rejects(resolveRunFolder(run, `tree/${name}`), { isOutside: false }, name);
    });
  });
}

test('T62: what the account of the run cannot read is not read for it either', { skip: NO_ROOT }, async (t) => {
  const { run, outside } = scene(t, TEST_ACCOUNT);
  chmodSync(join(outside, 'file'), 0o600);
  linkSync(join(outside, 'file'), join(run, 'tree', 'state'));
  await assert.rejects(readRunFile(run, 'tree/state', MAX), { code: 'EACCES' });
});
