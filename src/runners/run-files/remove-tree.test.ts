import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Attacker, needsOfAttacker, startAttacker } from '../../../test/support/attacks/exchange-attacker.ts';
import { ACCOUNTS, giveTree, nameOf, NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { pathPart } from '../../domain/path-part.ts';
import { systemClock } from '../../lib/clock.ts';
import { findRunDir, makeRunDir, removeRunDir } from '../run-dir.ts';
import { readRunFile } from './run-files.ts';

const remove = (run: string): Promise<boolean> => removeRunDir(run, systemClock);

for (const account of ACCOUNTS) {
  describe(`The directory of a run ${nameOf(account)} is removed`, () => {
    let dir: string;
    let runs: string;
    let made = 0;

    const makeRun = (): string => makeRunDir(runs, pathPart('id', `job_${(made += 1)}`), account);

    before(() => {
      dir = mkdtempSync(join(tmpdir(), 'gatehouse-remove-'));
      runs = join(dir, 'runs');
      mkdirSync(runs);
      for (const folder of [dir, runs]) chmodSync(folder, 0o711);
    });
    after(() => rmSync(dir, { recursive: true, force: true }));

    test('with links, pipes, names that are not UTF-8, folders that are closed, and its neighbours', async () => {
      const run = makeRun();
      const outside = join(dir, 'outside');
      mkdirSync(outside);
      writeFileSync(join(outside, 'file'), 'x');
      symlinkSync(outside, join(run, 'link'));
      symlinkSync('nowhere', join(run, 'dangling'));
      mkdirSync(join(run, 'a', 'b', 'c'), { recursive: true });
      writeFileSync(join(run, 'a', 'b', 'c', 'file'), 'x');
      symlinkSync('../../..', join(run, 'a', 'b', 'up'));
      const odd = Buffer.concat([Buffer.from(`${run}/`), Buffer.from([0xff, 0xfe, 0x0a])]);
      mkdirSync(odd);
      writeFileSync(Buffer.concat([odd, Buffer.from([0x2f, 0xc3])]), 'x');
      mkdirSync(`${run}.told`);
      writeFileSync(join(`${run}.told`, '1-2'), '');
      giveTree(run, account);
      chmodSync(join(run, 'a', 'b', 'c'), 0);
      chmodSync(join(run, 'a', 'b'), 0o100);
      chmodSync(join(run, 'a'), 0o500);
      chmodSync(run, 0);
      assert.equal(await remove(run), true);
      assert.deepEqual(
        [readdirSync(runs), readdirSync(outside), statSync(outside).mode & 0o777],
        [[], ['file'], 0o755],
      );
      assert.equal(await remove(run), true, 'what is gone is removed');
    });

    test('when it is deeper than a path can be long, and when one folder has many entries', async () => {
      const run = makeRun();
      // Each level is put around the last one: no path gets long.
      const [inner, outer] = [join(dir, 'inner'), join(dir, 'outer')];
      mkdirSync(inner);
      for (let level = 0; level < 300; level += 1) {
        mkdirSync(outer);
        renameSync(inner, join(outer, 'd'.repeat(200)));
        renameSync(outer, inner);
      }
      renameSync(inner, join(run, 'deep'));
      mkdirSync(join(run, 'wide'));
      for (let file = 0; file < 1_000; file += 1) writeFileSync(join(run, 'wide', `f${file}`), '');
      for (let folder = 0; folder < 200; folder += 1) mkdirSync(join(run, 'wide', `d${folder}`));
      giveTree(run, account);
      assert.equal(await remove(run), true);
      assert.deepEqual(readdirSync(runs), []);
    });

    test('T61: the mode of a file is never changed: it may be a hard link to one of the service', async () => {
      const run = makeRun();
      const key = join(dir, 'seal.key');
      writeFileSync(key, 'k', { mode: 0o400 });
      mkdirSync(join(run, 'closed'));
      giveTree(run, account);
      linkSync(key, join(run, 'closed', 'link'));
      chmodSync(join(run, 'closed'), 0);
      assert.equal(await remove(run), true);
      assert.deepEqual([readFileSync(key, 'utf8'), statSync(key).mode & 0o777], ['k', 0o400]);
    });

    test('what takes too long is left, and taken up by the next removal', async () => {
      const run = makeRun();
      mkdirSync(join(run, 'a'));
      giveTree(run, account);
      assert.equal(await removeRunDir(run, systemClock, 0), false);
      // It cannot be reached by its own path any more.
      if (account === null) assert.equal(existsSync(run), false);
      else assert.equal(statSync(dirname(run)).mode & 0o777, 0o700);
      assert.equal(await remove(run), true);
      assert.deepEqual(readdirSync(runs), []);
    });

    const skip = needsOfAttacker(account);
    describe('while a process that escaped exchanges folders for links', { skip }, () => {
      const ROUNDS = 8;
      let attacker: Attacker;

      before(() => {
        attacker = startAttacker(account);
      });
      after(() => attacker.stop());

      test('T61: nothing outside of it is removed or changed', async (t) => {
        const outside = join(dir, 'data');
        mkdirSync(join(outside, 'closed'), { recursive: true });
        const files = ['seal.key', 'gatehouse.db', 'closed/state'];
        for (const file of files) writeFileSync(join(outside, file), 'of the service', { mode: 0o600 });
        chmodSync(join(outside, 'closed'), 0o500);
        // Of an account other than root nothing in it is removed.
        t.after(() => chmodSync(join(outside, 'closed'), 0o700));
        const seen = (): unknown => [
          readdirSync(outside),
          files.map((file) => existsSync(join(outside, file))),
          [outside, join(outside, 'closed')].map((path) => statSync(path).mode & 0o777),
        ];
        const before = seen();
        for (let round = 0; round < ROUNDS; round += 1) {
          const run = makeRun();
          const folders = [run, join(run, 'x'), join(run, 'x', 'x')];
          mkdirSync(join(run, 'x', 'x', 'x'), { recursive: true });
          for (const folder of folders) {
            symlinkSync(outside, join(folder, 'l'));
            for (let file = 0; file < 50; file += 1) writeFileSync(join(folder, 'x', `f${file}`), '');
            for (const file of ['seal.key', 'gatehouse.db']) writeFileSync(join(folder, 'x', file), 'of the job');
          }
          giveTree(run, account);
          chmodSync(join(run, 'x', 'x', 'x'), 0);
          await attacker.begin({ folders, outside, exchanges: 4_000, remakes: 50 });
          await remove(run);
          await attacker.over();
          assert.deepEqual(seen(), before, `round ${round}`);
          assert.equal(await remove(run), true);
        }
        assert.deepEqual(readdirSync(runs), []);
      });
    });
  });
}

test(
  'The directory of a run that an earlier build gave to the account is read and removed',
  { skip: NO_ROOT },
  async (t) => {
    const runs = mkdtempSync(join(tmpdir(), 'gatehouse-earlier-'));
    t.after(() => rmSync(runs, { recursive: true, force: true }));
    const run = join(runs, 'job_1');
    mkdirSync(join(run, 'folder'), { recursive: true });
    writeFileSync(join(run, 'folder', 'file'), 'state');
    giveTree(run, TEST_ACCOUNT);
    chmodSync(join(run, 'folder'), 0o700);
    assert.equal(findRunDir(runs, pathPart('id', 'job_1')), run);
    assert.equal((await readRunFile(run, 'folder/file', 100)).toString(), 'state');
    assert.equal(await remove(run), true);
    assert.deepEqual(readdirSync(runs), []);
  },
);
