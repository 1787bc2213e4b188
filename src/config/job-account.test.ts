import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { userName } from '../lib/user-name.ts';
import { dataDirPaths } from './data-dir.ts';
import { accountIn, findJobAccount } from './job-account.ts';
import { instanceName, prepareRunsDir, runsDirOf } from './runs-dir.ts';
import { needs } from '../../test/support/tools.ts';

const NO_ROOT = needs('root');
const ACCOUNT = { name: 'runner', uid: 64_123, gid: 64_124 };

describe('The account of jobs', () => {
  it('is read from the user database by its whole name', () => {
    const passwd =
      'root:x:0:0::/root:/bin/sh\nrun:x:7:8:::\nrunner:x:64123:64124::/nonexistent:/bin/false\nodd:x:-1:9:::\n';
    assert.deepEqual(accountIn(passwd, 'runner'), ACCOUNT);
    for (const name of ['runne', 'odd', '', 'x']) assert.equal(accountIn(passwd, name), null, name);
  });

  it('is the account of the daemon for root by name, and for who is not root', async () => {
    assert.deepEqual(await findJobAccount(userName()), { account: null, isFallback: false });
  });

  it('is refused when it does not exist, has the group of root, or is no name', { skip: NO_ROOT }, async () => {
    await assert.rejects(findJobAccount('no-such-account-here'), /account no-such-account-here does not exist/);
    for (const name of ['a b', '-x', 'a:b', '../x'])
      await assert.rejects(findJobAccount(name), /expected the name of an account/);
    assert.deepEqual((await findJobAccount('nobody'))?.account?.name, 'nobody');
  });
});

describe('The directory of the runs', () => {
  let dir: string;
  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-runs-')));
    chmodSync(dir, 0o711);
  });
  after(() => rmSync(dir, { recursive: true }));

  const prepare = (name: string, data = 'data', account: typeof ACCOUNT | null = ACCOUNT): Promise<string> =>
    prepareRunsDir(join(dir, name), dataDirPaths(join(dir, data)), account);

  it('is in the data directory for jobs of the same account, and has its own name for others', () => {
    const paths = dataDirPaths('/srv/gate house');
    assert.equal(runsDirOf(null, paths, null), '/srv/gate house/runs');
    assert.equal(runsDirOf(null, paths, ACCOUNT), `/var/lib/gatehouse-runs/${instanceName('/srv/gate house')}`);
    assert.match(instanceName('/srv/gate house'), /^gate_house-[0-9a-f]{12}$/);
    assert.notEqual(instanceName('/srv/a/data'), instanceName('/srv/b/data'));
  });

  it('lets the account through and lets no one list it, whatever the umask; again for one data directory', async () => {
    const before = process.umask(0o077);
    try {
      assert.equal(await prepare('made/deep'), join(dir, 'made/deep'));
    } finally {
      process.umask(before);
    }
    for (const path of ['made', 'made/deep']) assert.equal(statSync(join(dir, path)).mode & 0o7777, 0o711);
    await prepare('made/deep');
    assert.deepEqual(readdirSync(join(dir, 'made/deep')), ['.data-dir']);
    assert.equal(statSync(await prepare('own', 'data', null)).mode & 0o7777, 0o700);
  });

  it('is refused to another data directory, which would sweep its runs, and where other things are', async () => {
    await prepare('shared');
    await assert.rejects(
      prepare('shared', 'other'),
      /holds the runs of the data directory .*\/data; each data directory needs its own/,
    );
    mkdirSync(join(dir, 'full'));
    writeFileSync(join(dir, 'full', 'letter'), '');
    await assert.rejects(prepare('full'), /holds other things/);
  });

  it(
    'T66: is refused where others may write it or put another in its place, where it belongs to somebody else, ' +
      'and where the account cannot get to',
    { skip: NO_ROOT },
    async () => {
      mkdirSync(join(dir, 'open'));
      chmodSync(join(dir, 'open'), 0o777);
      await assert.rejects(prepare('open'), /lets no other user write/);
      mkdirSync(join(dir, 'foreign'));
      chownSync(join(dir, 'foreign'), ACCOUNT.uid, ACCOUNT.gid);
      await assert.rejects(prepare('foreign'), /belongs to user 64123/);
      mkdirSync(join(dir, 'foreign', 'runs'), { mode: 0o711 });
      mkdirSync(join(dir, 'open', 'runs'), { mode: 0o711 });
      for (const path of ['foreign/runs', 'foreign/new', 'open/runs', 'open/new/deep'])
        await assert.rejects(
          prepare(path),
          /runs-dir: the parent folder .*\/(foreign|open) belongs .*; choose a directory whose parents belong to root/,
          path,
        );
      assert.deepEqual([readdirSync(join(dir, 'foreign')), readdirSync(join(dir, 'open'))], [['runs'], ['runs']]);
      mkdirSync(join(dir, 'closed'));
      chmodSync(join(dir, 'closed'), 0o700);
      await assert.rejects(prepare('closed/runs'), /job account runner cannot enter .*\/closed \(mode 0700\)/);
      assert.deepEqual(readdirSync(join(dir, 'closed')), []);
    },
  );

  it(
    'T66: may be below a folder where all may write but only the owner of an entry renames it, as in /tmp',
    { skip: NO_ROOT },
    async () => {
      const sticky = join(dir, 'sticky');
      mkdirSync(sticky);
      chmodSync(sticky, 0o1777);
      const runs = await prepare('sticky/runs');
      assert.equal(runs, join(sticky, 'runs'));
      const { uid, gid } = ACCOUNT;
      const renamed = spawnSync('/bin/mv', [runs, join(sticky, 'away')], { uid, gid, encoding: 'utf8' });
      assert.match(renamed.stderr, /Operation not permitted/);
      assert.deepEqual(readdirSync(sticky), ['runs']);
    },
  );

  it(
    'T66: is refused in the data directory where jobs have another account, also under its default name',
    { skip: NO_ROOT },
    async () => {
      mkdirSync(join(dir, 'own-data', 'runs'), { recursive: true, mode: 0o700 });
      await assert.rejects(prepare('own-data/runs', 'own-data'), /cannot enter .*\/own-data \(mode 0700\)/);
      assert.equal(await prepare('own-data/runs', 'own-data', null), join(dir, 'own-data', 'runs'));
    },
  );
});
