import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Failure } from '../domain/failure.ts';
import type { Tree } from '../domain/sources/directory.ts';
import type { SourceFetcher } from '../operations/sources/services.ts';
import { createLauncher } from '../runners/launch/launch.ts';
import { placeOfNew, type SourcePlace } from '../store/sources/source-place.ts';
import { createSourceFetcher } from './sources.ts';

let base: string;
let fetcher: SourceFetcher;
const launcher = createLauncher();

const dir = (location: string, dir_kept: string | null = null): SourcePlace => ({
  ...placeOfNew({ name: 'net', kind: 'dir', location, ref: null }),
  dir_kept,
});

/** The tree of a source that was just added. */
async function added(location: string): Promise<Tree> {
  const { dirKept } = await fetcher.fetch(dir(location));
  return (await fetcher.treeOf(dir(location, dirKept))) ?? assert.fail();
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'invalid_argument' && error.message.startsWith('dir: ');

const isConflict =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Failure && error.code === 'conflict' && words.test(error.message);

describe('The fetcher of sources', () => {
  before(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-sources-'));
    for (const folder of ['data/sources', 'data/runs', 'net', 'data-of-another'])
      mkdirSync(join(base, folder), { recursive: true });
    fetcher = createSourceFetcher(
      { sourcesDir: join(base, 'data/sources'), runsDirs: [join(base, 'runs')], machine: 'here' },
      launcher,
    );
  });
  after(() => rmSync(base, { recursive: true }));

  describe('a directory as a source', () => {
    it('is used where it is, and asked there for its hooks file', async () => {
      const net = join(base, 'net');
      assert.equal((await fetcher.fetch(dir(net))).commit, null);
      const tree = await added(net);
      assert.equal(await fetcher.hooksFile(tree), null);
      assert.equal(tree.path, net);
      writeFileSync(join(net, 'gatehouse.hooks.yml'), 'before_plan: x\n');
      assert.equal(await fetcher.hooksFile(tree), 'gatehouse.hooks.yml');
      assert.deepEqual(await fetcher.hookNames(tree, 'gatehouse.hooks.yml'), ['before_plan']);
      await assert.doesNotReject(fetcher.fetch(dir(join(base, 'data-of-another'))));
    });

    it('has a digest of its files, without those that no run copies', async () => {
      const root = join(base, 'digest');
      mkdirSync(join(root, '.terraform'), { recursive: true });
      writeFileSync(join(root, 'main.tf'), 'a');
      const tree = await added(root);
      const before = await fetcher.digestOf(tree);
      writeFileSync(join(root, '.terraform/x'), 'y');
      assert.equal(await fetcher.digestOf(tree), before);
      writeFileSync(join(root, 'main.tf'), 'b');
      assert.notEqual(await fetcher.digestOf(tree), before);
      symlinkSync('/etc/passwd', join(root, 'link'));
      await assert.rejects(fetcher.digestOf(tree), /is a symbolic link that leads out of the tree/);
    });

    it('is refused when it is not there, is no directory, or is named from nowhere', async () => {
      writeFileSync(join(base, 'file'), '');
      const inData = `${base}/net/../data/runs`;
      for (const location of [join(base, 'nothing'), join(base, 'file'), 'net', '', inData, `${base}/net/.`]) {
        await assert.rejects(fetcher.fetch(dir(location)), isRefusal, location);
        assert.equal(await fetcher.treeOf(dir(location)), null);
      }
    });

    it('is refused when it is the data directory, lies in it, holds it, or leads to it by a link', async () => {
      symlinkSync(join(base, 'data'), join(base, 'link'));
      for (const location of ['data', 'data/runs', 'data/sources', '', 'net/../data']) {
        await assert.rejects(fetcher.fetch(dir(join(base, location))), isRefusal, location);
        assert.equal(await fetcher.treeOf(dir(join(base, location))), null);
      }
      for (const location of ['link', 'link/runs']) {
        await assert.rejects(fetcher.fetch(dir(join(base, location))), isRefusal, location);
        await assert.rejects(fetcher.treeOf(dir(join(base, location))), /its path leads through a symbolic link/);
      }
      await assert.rejects(fetcher.fetch(dir('/')), isRefusal);
    });

    it('T86: is the one that was named, and another one at its path is accepted by who fetches it again', async () => {
      const path = join(base, 'replaced');
      mkdirSync(path);
      const { dirKept } = await fetcher.fetch(dir(path));
      const tree = (await fetcher.treeOf(dir(path, dirKept))) ?? assert.fail();
      assert.equal(tree.named?.toKeep, null);
      renameSync(path, `${path}-before`);
      mkdirSync(path);
      writeFileSync(join(path, 'gatehouse.hooks.yml'), 'before_plan: x\n');
      const another = /^The directory of source net is .*: another folder is at its path now\..*svc source sync net$/;
      await assert.rejects(fetcher.treeOf(dir(path, dirKept)), isConflict(another));
      for (const read of [
        () => fetcher.hooksFile(tree),
        () => fetcher.hookNames(tree, 'gatehouse.hooks.yml'),
        () => fetcher.digestOf(tree),
      ])
        await assert.rejects(read(), isConflict(another));
      assert.equal(await fetcher.hasFile(tree, 'gatehouse.hooks.yml'), false);
      const synced = await fetcher.fetch(dir(path, dirKept));
      assert.notEqual(await fetcher.treeOf(dir(path, synced.dirKept)), null);
      rmSync(path, { recursive: true });
      symlinkSync(`${path}-before`, path);
      await assert.rejects(
        fetcher.treeOf(dir(path, dirKept)),
        /symbolic link.*svc source add net --dir DIR --replace$/,
      );
      await assert.rejects(fetcher.fetch(dir(path, dirKept)), isRefusal);
    });

    it('T86: is kept as it is found where nothing is kept for this machine, and what others keep stays', async () => {
      const net = join(base, 'net');
      const found = (await fetcher.treeOf(dir(net))) ?? assert.fail();
      const column = found.named?.toKeep ?? assert.fail();
      assert.deepEqual(Object.keys(JSON.parse(column) as object), ['here']);
      const ofOther = column.replace('here', 'there');
      const both = (await fetcher.treeOf(dir(net, ofOther)))?.named?.toKeep ?? assert.fail();
      assert.deepEqual(Object.keys(JSON.parse(both) as object), ['there', 'here']);
      assert.equal((await fetcher.treeOf(dir(net, both)))?.named?.toKeep, null);
    });

    it('has a file where no link of it leads out', async () => {
      const root = join(base, 'files');
      mkdirSync(join(root, 'plays'), { recursive: true });
      writeFileSync(join(root, 'plays/site.yml'), '');
      symlinkSync('plays', join(root, 'inner'));
      symlinkSync('inner/site.yml', join(root, 'site.yml'));
      symlinkSync('../net', join(root, 'outer'));
      writeFileSync(join(base, 'net/out.yml'), '');
      const tree = await added(root);
      for (const path of ['plays/site.yml', 'inner/site.yml', 'site.yml'])
        assert.equal(await fetcher.hasFile(tree, path), true, path);
      for (const path of ['plays', 'none.yml', 'outer/out.yml', '../net/out.yml'])
        assert.equal(await fetcher.hasFile(tree, path), false, path);
    });

    it('is refused when it is where other runs are, or lies in it', async () => {
      mkdirSync(join(base, 'runs/job_1'), { recursive: true });
      for (const location of ['runs', 'runs/job_1'])
        await assert.rejects(fetcher.fetch(dir(join(base, location))), isRefusal, location);
    });
  });

  describe('a git source', () => {
    it('has no files on a machine that did not fetch it', async () => {
      const place = placeOfNew({ name: 'ops', kind: 'git', location: 'git@h:x', ref: null });
      assert.equal(await fetcher.treeOf({ ...place, commit_id: 'a'.repeat(40) }), null);
      assert.equal(await fetcher.treeOf(place), null);
      await fetcher.remove('ops');
    });

    it('is refused for a URL that git is not to be given', async () => {
      await assert.rejects(
        fetcher.fetch(placeOfNew({ name: 'ops', kind: 'git', location: 'file:///etc', ref: null })),
        (error: unknown) => error instanceof Failure && error.code === 'invalid_argument',
      );
    });
  });
});
