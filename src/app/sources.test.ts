import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Failure } from '../domain/failure.ts';
import type { SourceFetcher } from '../operations/core/services.ts';
import { createLauncher } from '../runners/launch/launch.ts';
import { createSourceFetcher } from './sources.ts';

let base: string;
let fetcher: SourceFetcher;
const launcher = createLauncher();

const dir = (location: string) => ({ name: 'net', kind: 'dir', location, ref: null, commit_id: null }) as const;

const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'invalid_argument' && error.message.startsWith('dir: ');

describe('The fetcher of sources', () => {
  before(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-sources-'));
    for (const folder of ['data/sources', 'data/runs', 'net', 'data-of-another'])
      mkdirSync(join(base, folder), { recursive: true });
    fetcher = createSourceFetcher(join(base, 'data/sources'), launcher, undefined, [join(base, 'runs')]);
  });
  after(() => rmSync(base, { recursive: true }));

  describe('a directory as a source', () => {
    it('is used where it is, and asked there for its hooks file', async () => {
      const net = join(base, 'net');
      assert.deepEqual(await fetcher.fetch(dir(net)), { commit: null });
      assert.equal(await fetcher.hooksFile(net), null);
      assert.equal(await fetcher.treeOf(dir(net)), net);
      writeFileSync(join(net, 'gatehouse.hooks.yml'), 'before_plan: x\n');
      assert.equal(await fetcher.hooksFile(net), 'gatehouse.hooks.yml');
      assert.deepEqual(await fetcher.hookNames(net, 'gatehouse.hooks.yml'), ['before_plan']);
      await assert.doesNotReject(fetcher.fetch(dir(join(base, 'data-of-another'))));
    });

    it('has a digest of its files, without those that no run copies', async () => {
      const root = join(base, 'digest');
      mkdirSync(join(root, '.terraform'), { recursive: true });
      writeFileSync(join(root, 'main.tf'), 'a');
      const before = await fetcher.digestOf(root);
      writeFileSync(join(root, '.terraform/x'), 'y');
      assert.equal(await fetcher.digestOf(root), before);
      writeFileSync(join(root, 'main.tf'), 'b');
      assert.notEqual(await fetcher.digestOf(root), before);
      symlinkSync('/etc/passwd', join(root, 'link'));
      await assert.rejects(fetcher.digestOf(root), /is a symbolic link that leads out of the tree/);
    });

    it('is refused when it is not there, is no directory, or is named from nowhere', async () => {
      writeFileSync(join(base, 'file'), '');
      for (const location of [join(base, 'nothing'), join(base, 'file'), 'net', '']) {
        await assert.rejects(fetcher.fetch(dir(location)), isRefusal, location);
        assert.equal(await fetcher.treeOf(dir(location)), null);
      }
    });

    it('is refused when it is the data directory, lies in it, holds it, or leads to it by a link', async () => {
      symlinkSync(join(base, 'data'), join(base, 'link'));
      for (const location of ['data', 'data/runs', 'data/sources', '', 'link', 'link/runs', 'net/../data']) {
        await assert.rejects(fetcher.fetch(dir(join(base, location))), isRefusal, location);
        assert.equal(await fetcher.treeOf(dir(join(base, location))), null);
      }
      await assert.rejects(fetcher.fetch(dir('/')), isRefusal);
    });

    it('is refused when it is where other runs are, or lies in it', async () => {
      mkdirSync(join(base, 'runs/job_1'), { recursive: true });
      for (const location of ['runs', 'runs/job_1'])
        await assert.rejects(fetcher.fetch(dir(join(base, location))), isRefusal, location);
    });
  });

  describe('a git source', () => {
    it('has no files on a machine that did not fetch it', async () => {
      const source = { name: 'ops', kind: 'git', location: 'git@h:x', commit_id: 'a'.repeat(40) } as const;
      assert.equal(await fetcher.treeOf(source), null);
      assert.equal(await fetcher.treeOf({ ...source, commit_id: null }), null);
      await fetcher.remove('ops');
    });

    it('is refused for a URL that git is not to be given', async () => {
      await assert.rejects(
        fetcher.fetch({ name: 'ops', kind: 'git', location: 'file:///etc', ref: null }),
        (error: unknown) => error instanceof Failure && error.code === 'invalid_argument',
      );
    });
  });
});
