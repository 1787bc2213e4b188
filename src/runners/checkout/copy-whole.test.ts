import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openOwnFolder } from '../run-files/own-folder.ts';
import { OwnTarget } from './copy-target.ts';
import { copyWhole, type WholeOptions, type WholeTree } from './copy-whole.ts';

const LIMITS = { files: 100, bytes: 4 * 1024 * 1024, depth: 4 };

describe('The copy of a whole folder', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-whole-'));
    mkdirSync(join(dir, 'from'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const from = (path = ''): string => join(dir, 'from', path);

  async function copy(to: string, more: Partial<WholeOptions> = {}, source = from()): Promise<WholeTree> {
    mkdirSync(join(dir, to));
    await using folder = await openOwnFolder(source);
    const options = { limits: LIMITS, signal: new AbortController().signal, ...more };
    return await copyWhole(folder, new OwnTarget(join(dir, to)), options);
  }

  /** What terraform leaves: names that the copy of a tree leaves out, a program, a link. */
  function fill(): void {
    for (const folder of ['modules', 'modules/m', 'modules/m/.git', 'modules/empty']) mkdirSync(from(folder));
    writeFileSync(from('modules/m/.git/config'), 'of git');
    writeFileSync(from('terraform.tfstate'), '{}');
    writeFileSync(from('program'), Buffer.alloc(3 * 1024 * 1024 + 5, 7));
    chmodSync(from('program'), 0o755);
    symlinkSync('../m', from('modules/empty/link'));
  }

  /** Refuses what `make` makes, and removes it. */
  async function refused(
    name: string,
    make: () => unknown,
    why: RegExp,
    more: Partial<WholeOptions> = {},
  ): Promise<void> {
    make();
    await assert.rejects(copy(name, more), why);
    rmSync(from(), { recursive: true });
    mkdirSync(from());
  }

  describe('copyWhole', () => {
    it('copies every entry with its executable bit, and closes the copy to others', async () => {
      fill();
      const { digest, bytes } = await copy('to');
      assert.equal(bytes, 3 * 1024 * 1024 + 5 + 2 + 6);
      assert.ok(readFileSync(join(dir, 'to', 'program')).equals(readFileSync(from('program'))));
      assert.equal(readFileSync(join(dir, 'to', 'modules/m/.git/config'), 'utf8'), 'of git');
      assert.equal(readlinkSync(join(dir, 'to', 'modules/empty/link')), '../m');
      const modes = ['program', 'terraform.tfstate', 'modules'].map((name) => lstatSync(join(dir, 'to', name)).mode);
      assert.deepEqual(
        modes.map((mode) => mode & 0o777),
        [0o700, 0o600, 0o700],
      );
      assert.equal((await copy('again', {}, join(dir, 'to'))).digest, digest, 'a copy of the copy');
    });

    it('gives another digest for any other entry', async () => {
      fill();
      const seen = new Set([(await copy('0')).digest]);
      const changes = [
        () => chmodSync(from('program'), 0o644),
        () => writeFileSync(from('terraform.tfstate'), '{ }'),
        () => mkdirSync(from('modules/other')),
        () => rmSync(from('modules/empty/link')),
        () => symlinkSync('../m/.git', from('modules/empty/link')),
        () => writeFileSync(from('modules/m/new'), ''),
      ];
      for (const [at, change] of changes.entries()) {
        change();
        seen.add((await copy(`${at + 1}`)).digest);
      }
      assert.equal(seen.size, changes.length + 1);
    });

    it('refuses links that lead out or nowhere, other kinds of files and what is too much', async () => {
      const isLink = /"x" is a symbolic link that leads out, or nowhere/;
      for (const target of ['/etc/passwd', '../..', '../from/y', 'gone', 'x'])
        await refused(`link-${target.replaceAll('/', '-')}`, () => symlinkSync(target, from('x')), isLink);
      await refused(
        'pipe',
        () => execFileSync('mkfifo', [from('pipe')]),
        /"pipe" is neither a file, a folder nor a symbolic link/,
      );
      await refused(
        'deep',
        () => mkdirSync(from('1/2/3/4/5'), { recursive: true }),
        /"1\/2\/3\/4\/5" lies deeper than 4 folders/,
      );
      const limits = { files: 1, bytes: 3, depth: 1 };
      await refused('many', () => ['a', 'b'].map((name) => writeFileSync(from(name), '')), /more than 1 files/, {
        limits,
      });
      await refused('large', () => writeFileSync(from('a'), '1234'), /more than 3 bytes/, { limits });
      const stopped = { signal: AbortSignal.abort(new Error('stopped')) };
      await refused('stopped', () => writeFileSync(from('a'), ''), /stopped/, stopped);
    });

    it('hands over small files as a whole, and an error about one ends the copy', async () => {
      fill();
      const seen: string[] = [];
      await copy('to', { look: (path, bytes) => void seen.push(`${path} ${bytes.toString()}`) });
      assert.deepEqual(seen.toSorted(), ['modules/m/.git/config of git', 'terraform.tfstate {}']);
      const look = assert.fail.bind(null, 'no');
      await assert.rejects(copy('other', { look }), /no$/);
    });
  });
});
