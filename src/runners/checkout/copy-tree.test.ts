import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  Dir,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { COPY_LIMITS, copyTree, type CopiedTree, type CopyLimits } from './copy-tree.ts';

/** Everything below a folder, in order. */
function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

/** Null for a descriptor that is closed by now. */
function readlinkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

const mode = (path: string): number => lstatSync(path).mode & 0o777;

describe('The copy of a tree', () => {
  let base: string;
  let from: string;
  let count = 0;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'));
    from = join(base, 'from');
    mkdirSync(from);
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  function write(path: string, content = path, mode = 0o644): void {
    mkdirSync(dirname(join(from, path)), { recursive: true });
    writeFileSync(join(from, path), content);
    chmodSync(join(from, path), mode);
  }

  function target(): string {
    const to = join(base, `to-${(count += 1)}`);
    mkdirSync(to);
    return to;
  }

  async function copied(): Promise<CopiedTree & { readonly to: string }> {
    const to = target();
    return { ...(await copyTree(from, to)), to };
  }

  function limited(limits: Partial<CopyLimits>): Promise<CopiedTree> {
    return copyTree(from, target(), { limits: { ...COPY_LIMITS, ...limits } });
  }

  async function digest(): Promise<string> {
    return (await copied()).digest;
  }

  describe('the private copy of a tree', () => {
    it('has the files, their contents and who may execute them, for the owner alone', async () => {
      write('main.tf', 'resource\n', 0o666);
      write('modules/a/run.sh', '#!/bin/sh\n', 0o755);
      write('big', 'x'.repeat(700_000));
      write('empty', '');
      write('name with ümlaut');
      const { to, files, bytes } = await copied();
      assert.deepEqual(below(to), [
        'big',
        'empty',
        'main.tf',
        'modules',
        'modules/a',
        'modules/a/run.sh',
        'name with ümlaut',
      ]);
      assert.deepEqual(
        [readFileSync(join(to, 'main.tf'), 'utf8'), readFileSync(join(to, 'big')).length],
        ['resource\n', 700_000],
      );
      assert.deepEqual(
        ['main.tf', 'modules', 'modules/a/run.sh'].map((path) => mode(join(to, path))),
        [0o600, 0o700, 0o700],
      );
      assert.deepEqual([files, bytes], [5, 9 + 10 + 700_000 + 'name with ümlaut'.length + 1]);
    });

    it('is without git, what init made and the lock of another terraform, at any level', async () => {
      for (const path of [
        '.git/config',
        'sub/.git/config',
        '.terraform/providers/evil',
        'sub/.terraform/x',
        '.terraform.tfstate.lock.info',
        'errored.tfstate',
      ])
        write(path);
      for (const path of ['main.tf', '.terraform.lock.hcl', '.gitignore', 'sub/a.tf']) write(path);
      const { to } = await copied();
      assert.deepEqual(below(to), ['.gitignore', '.terraform.lock.hcl', 'main.tf', 'sub', 'sub/a.tf']);
    });

    it('keeps links that lead inside, also through others', async () => {
      write('shared/common.tf');
      write('net/main.tf');
      symlinkSync('../shared/common.tf', join(from, 'net/common.tf'));
      symlinkSync('net', join(from, 'alias'));
      symlinkSync('alias/common.tf', join(from, 'twice.tf'));
      const { to } = await copied();
      assert.equal(readlinkSync(join(to, 'net/common.tf')), '../shared/common.tf');
      assert.equal(readFileSync(join(to, 'twice.tf'), 'utf8'), 'shared/common.tf');
    });

    it('T24: is refused for a link that leads out or nowhere, and the refusal names it', async () => {
      write('a/b.tf');
      for (const [link, to] of [
        ['x', '/etc/passwd'],
        ['x', `${from}/a/b.tf`],
        ['x', '../outside'],
        ['a/x', '../../outside'],
        ['x', '../from/a/b.tf'],
        ['x', 'nothing'],
        ['x', 'x'],
        ['x', 'a/b.tf/c'],
        ['x', '.git/config'],
        ['x', '/proc/self/root'],
      ] as const) {
        symlinkSync(to, join(from, link));
        await assert.rejects(copied(), new RegExp(`"${link}" is a symbolic link that leads`), to);
        rmSync(join(from, link));
      }
      symlinkSync('a/..', join(from, 'up'));
      symlinkSync('up/../b', join(from, 'x'));
      await assert.rejects(copied(), /"x" is a symbolic link that leads out/);
    });

    it('is refused for a state that is a link: terraform would write through it', async () => {
      write('other');
      symlinkSync('other', join(from, 'terraform.tfstate'));
      await assert.rejects(copied(), /"terraform.tfstate" is a symbolic link; a state must be a file/);
    });

    it('is refused for what is no file, at once', async () => {
      execFileSync('mkfifo', [join(from, 'pipe')]);
      await assert.rejects(copied(), /"pipe" is neither a file, a folder nor a symbolic link/);
      rmSync(join(from, 'pipe'));
      const server = createServer().listen(join(from, 'socket'));
      await new Promise((resolve) => server.once('listening', resolve));
      await assert.rejects(copied(), /"socket" is neither/);
      server.close();
    });

    it('is refused for a name that is no UTF-8, and without a folder', async () => {
      writeFileSync(Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0x61, 0xff])]), '');
      await assert.rejects(copied(), /contains a name that is not UTF-8/);
      await assert.rejects(copyTree(join(base, 'nothing'), target()), /The folder cannot be read \(ENOENT\)/);
      writeFileSync(join(base, 'file'), '');
      await assert.rejects(copyTree(join(base, 'file'), target()), /The folder cannot be read \(ENOTDIR\)/);
    });

    it('T69: reads no more names of a folder than it may copy files', async (t) => {
      for (let n = 0; n < 3_000; n += 1) writeFileSync(join(from, `${n}`), '');
      const read = t.mock.method(Dir.prototype, 'read');
      await assert.rejects(limited({ files: 10 }), /more than 10 files/);
      assert.equal(read.mock.callCount(), 11);
      // The memory of the kernel for the list is given back.
      const open = readdirSync('/proc/self/fd').map((fd) => readlinkOf(`/proc/self/fd/${fd}`));
      assert.ok(!open.includes(from));
    });

    it('is refused beyond each limit', async () => {
      write('a/b/c', 'xxxx');
      write('d');
      await limited({ files: 4, depth: 2, bytes: 5 });
      await assert.rejects(limited({ files: 3 }), /more than 3 files/);
      await assert.rejects(limited({ depth: 1 }), /"a\/b" lies deeper than 1 folders/);
      await assert.rejects(limited({ bytes: 4 }), /more than 4 bytes/);
    });

    it('T23: a folder that is replaced while it is copied is refused: its files may be missing', async () => {
      for (let n = 0; n < 200; n += 1) write(`f${n}`);
      const to = target();
      const copying = copyTree(from, to);
      while (readdirSync(to).length === 0) await setImmediate();
      renameSync(from, join(base, 'gone'));
      mkdirSync(from);
      write('f0');
      await assert.rejects(copying, /The folder was replaced while it was copied/);
    });
  });

  describe('the digest of a tree', () => {
    it('is the same for the same files, whatever their times and their order', async () => {
      write('b.tf');
      write('a/x.tf');
      const first = await digest();
      utimesSync(join(from, 'b.tf'), 1, 1);
      write('.terraform/x');
      chmodSync(join(from, 'b.tf'), 0o600);
      assert.equal(await digest(), first);
      const copy = await copied();
      assert.equal((await copyTree(copy.to, target())).digest, first);
    });

    it('is another one for another content, name, place, kind or executable bit', async () => {
      write('a.tf', 'one');
      write('b/c.tf', 'two');
      const seen = [await digest()];
      const change = async (how: () => void): Promise<void> => {
        how();
        seen.push(await digest());
      };
      await change(() => write('a.tf', 'One'));
      await change(() => renameSync(join(from, 'a.tf'), join(from, 'z.tf')));
      await change(() => renameSync(join(from, 'b/c.tf'), join(from, 'b/d.tf')));
      await change(() => chmodSync(join(from, 'z.tf'), 0o755));
      await change(() => symlinkSync('z.tf', join(from, 'link')));
      await change(() => write('new', ''));
      await change(() => write('a","file","x', ''));
      assert.equal(new Set(seen).size, seen.length);
    });

    it('T90: is another one for a folder with nothing in it, which can take the place of one elsewhere', async () => {
      write('site.yml');
      const seen = [await digest()];
      for (const folder of ['roles', 'roles/hard']) {
        mkdirSync(join(from, folder));
        seen.push(await digest());
      }
      rmSync(join(from, 'roles/hard'), { recursive: true });
      assert.equal(await digest(), seen[1]);
      assert.equal(new Set(seen).size, seen.length);
    });

    it('does not depend on states, which are copied all the same', async () => {
      write('main.tf');
      const first = await digest();
      write('terraform.tfstate', '{"serial":1}');
      write('sub/terraform.tfstate.backup', '{}');
      const second = await copied();
      assert.equal(second.digest, first);
      assert.equal(readFileSync(join(second.to, 'terraform.tfstate'), 'utf8'), '{"serial":1}');
      write('x.tfstate', '{}');
      assert.notEqual(await digest(), first);
    });
  });
});
