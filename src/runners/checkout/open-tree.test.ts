/** Directories that a person named, as runs read them: with the rights of their owner, and no others in their place. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ACCOUNTS, giveTree, nameOf, NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { needsOfAttacker, startAttacker } from '../../../test/support/attacks/exchange-attacker.ts';
import { needs } from '../../../test/support/tools.ts';
import { type Tree, sourceWords } from '../../domain/sources/directory.ts';
import { Failure } from '../../domain/failure.ts';
import { groupIn } from '../account/owner-account.ts';
import { copyTree } from './copy-tree.ts';
import { openDirectory, openTree } from './open-tree.ts';

const SECRET = 'secret of root';
/** More than are opened at once. */
const FILES = 70;
/** More than there is time for. */
const EXCHANGES = 100_000_000;
const COPIES = 20;

async function named(path: string): Promise<Tree> {
  await using opened = await openDirectory(path);
  return { path, named: { identity: opened.identity, words: sourceWords('net'), toKeep: null } };
}

const refused = (what: string): RegExp =>
  new RegExp(`^${what} cannot be read with the rights of the owner of the directory \\(EACCES\\)\\.$`);

const isChange =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Failure && error.code === 'conflict' && words.test(error.message);

for (const account of ACCOUNTS) {
  describe(`The directory of a source, ${nameOf(account)}`, { skip: needs('Linux') }, () => {
    let base: string;
    let net: string;
    let count = 0;
    beforeEach(() => {
      base = mkdtempSync(join(tmpdir(), 'gatehouse-open-tree-'));
      chmodSync(base, 0o755);
      net = join(base, 'home/net');
      mkdirSync(join(net, 'modules/a'), { recursive: true });
      for (let at = 0; at < FILES; at += 1) writeFileSync(join(net, `file-${at}.tf`), `# ${at}`);
      writeFileSync(join(net, 'modules/a/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
      symlinkSync('modules/a/run.sh', join(net, 'link'));
      mkdirSync(join(base, 'root'), { mode: 0o700 });
      writeFileSync(join(base, 'root/main.tf'), SECRET, { mode: 0o600 });
      giveTree(join(base, 'home'), account);
    });
    afterEach(() => rmSync(base, { recursive: true, force: true }));

    function target(): string {
      const to = join(base, `to-${(count += 1)}`);
      mkdirSync(to);
      return to;
    }

    it('T86: is copied as a folder of this process is, with its links and programs', async () => {
      const [own, to] = [target(), target()];
      const expected = await copyTree(net, own);
      assert.deepEqual(await copyTree(await named(net), to), expected);
      assert.equal(readlinkSync(join(to, 'link')), 'modules/a/run.sh');
      assert.equal(readFileSync(join(to, 'file-69.tf'), 'utf8'), '# 69');
      assert.equal(readdirSync(to).length, FILES + 2);
    });

    it('T86: is refused when it is a link by now, in any part of its path, and nothing is copied', async () => {
      const tree = await named(net);
      renameSync(net, join(base, 'home/before'));
      symlinkSync(join(base, 'root'), net);
      const to = target();
      await assert.rejects(copyTree(tree, to), isChange(/its path leads through a symbolic link\./));
      rmSync(net);
      renameSync(join(base, 'home/before'), net);
      renameSync(join(base, 'home'), join(base, 'moved'));
      symlinkSync('moved', join(base, 'home'));
      await assert.rejects(copyTree(tree, to), isChange(/its path leads through a symbolic link\./));
      assert.deepEqual(readdirSync(to), []);
    });

    it('T86: is refused when another folder is at its path, also one that is a moment later the same again', async () => {
      const tree = await named(net);
      renameSync(net, join(base, 'home/before'));
      mkdirSync(net);
      await assert.rejects(openTree(tree), isChange(/another folder is at its path now\./));
      renameSync(join(base, 'home/before'), net);
      await (await openTree(tree))[Symbol.asyncDispose]();
    });

    const skip = needsOfAttacker(account);
    it('T86: is the opened one while its name is exchanged for a link during the copies', { skip }, async () => {
      renameSync(net, join(base, 'home/x'));
      symlinkSync(join(base, 'root'), join(base, 'home/l'));
      const tree = await named(join(base, 'home/x'));
      const attacker = startAttacker(account);
      try {
        await attacker.begin({ folders: [join(base, 'home')], outside: '/', exchanges: EXCHANGES, remakes: 0 });
        for (let copy = 0; copy < COPIES; copy += 1) {
          const to = target();
          await copyTree(tree, to).then(
            ({ files }) => assert.equal(files, FILES + 1),
            ({ message }: Error) => assert.match(message, /symbolic link\.|was replaced while it was copied/),
          );
          assert.equal(existsSync(join(to, 'main.tf')), false);
          rmSync(to, { recursive: true });
        }
      } finally {
        attacker.stop();
      }
    });
  });
}

describe('The directory of another account, for root', { skip: NO_ROOT }, () => {
  let base: string;
  let net: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-owner-'));
    net = join(base, 'net');
    mkdirSync(net);
    mkdirSync(join(base, 'to'));
    writeFileSync(join(net, 'main.tf'), '');
  });
  afterEach(() => rmSync(base, { recursive: true }));

  it('T86: has no file, folder or list in the copy that its owner may not read', async () => {
    giveTree(net, TEST_ACCOUNT);
    const tree = await named(net);
    const copy = (): Promise<unknown> => copyTree(tree, join(base, 'to'));
    writeFileSync(join(net, 'a.key'), SECRET, { mode: 0o600 });
    await assert.rejects(copy(), { message: refused('"a.key"') });
    rmSync(join(net, 'a.key'));
    writeFileSync(join(base, 'hard'), SECRET, { mode: 0o600 });
    linkSync(join(base, 'hard'), join(net, 'hard'));
    rmSync(join(base, 'to'), { recursive: true });
    mkdirSync(join(base, 'to'));
    await assert.rejects(copy(), { message: refused('"hard"') });
    rmSync(join(net, 'hard'));
    mkdirSync(join(net, 'sub'), { mode: 0o700 });
    rmSync(join(base, 'to'), { recursive: true });
    mkdirSync(join(base, 'to'));
    await assert.rejects(copy(), { message: refused('"sub"') });
    chmodSync(net, 0o300);
    await assert.rejects(copy(), { message: refused('The folder') });
  });

  it('T86: is another one after its owner gave it away', async () => {
    giveTree(net, TEST_ACCOUNT);
    const tree = await named(net);
    giveTree(net, { uid: 0, gid: 0 });
    const { uid } = TEST_ACCOUNT;
    await assert.rejects(openTree(tree), isChange(new RegExp(`its owner was user ${uid}, and is user 0 now\\.`)));
  });

  it('T86: of root is read as root', async () => {
    writeFileSync(join(net, 'a.key'), SECRET, { mode: 0o600 });
    giveTree(join(net, 'main.tf'), TEST_ACCOUNT);
    await copyTree(await named(net), join(base, 'to'));
    assert.equal(readFileSync(join(base, 'to/a.key'), 'utf8'), SECRET);
  });
});

it('T86: the group of an owner is the first one of the user, and never that of root', () => {
  const passwd = 'root:x:0:0::/root:/bin/sh\nana:x:1000:1001::/home/ana:/bin/sh\nodd:x:1002:0::/:/bin/sh\n';
  assert.deepEqual(
    [1000, 1002, 7].map((uid) => groupIn(passwd, uid)),
    [1001, null, null],
  );
});
