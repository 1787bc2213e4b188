import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Tree } from '../../domain/sources/directory.ts';
import { copyTree } from './copy-tree.ts';
import { findHooksFile, readHookNames } from './hooks-file.ts';

const at = (path: string): Tree => ({ path, named: null });

describe('The file of hooks of a source', () => {
  let tree: string;
  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), 'gatehouse-hooks-'));
    writeFileSync(join(tree, 'main.tf'), '');
  });
  afterEach(() => rmSync(tree, { recursive: true }));

  describe('the lifecycle hooks file of a source', () => {
    it('T25: is found in both spellings and in any letter case', async () => {
      assert.equal(await findHooksFile(at(tree)), null);
      for (const name of [
        'gatehouse.hooks.yaml',
        'gatehouse.hooks.yml',
        'Gatehouse.Hooks.YAML',
        'GATEHOUSE.HOOKS.YML',
        'gatehouse.hook\u017f.yaml',
        'gatehouse.hooks.y\u200daml',
      ]) {
        writeFileSync(join(tree, name), '');
        assert.equal(await findHooksFile(at(tree)), name);
        rmSync(join(tree, name));
      }
    });

    it('T25: is found as a link, as one that leads nowhere, as a plain file that was one, and as a folder', async () => {
      const path = join(tree, 'gatehouse.hooks.yaml');
      writeFileSync(join(tree, 'real'), 'before: x\n');
      for (const make of [
        () => symlinkSync('real', path),
        () => symlinkSync('nothing', path),
        () => writeFileSync(path, 'real'),
        () => mkdirSync(path),
      ]) {
        make();
        assert.equal(await findHooksFile(at(tree)), 'gatehouse.hooks.yaml');
        rmSync(path, { recursive: true });
      }
    });

    it('T25: is found in the very copy that runs, when it was added after the first look', async () => {
      assert.equal(await findHooksFile(at(tree)), null);
      writeFileSync(join(tree, 'gatehouse.hooks.yml'), 'before_apply: touch x\n');
      const copy = mkdtempSync(join(tmpdir(), 'gatehouse-hooks-copy-'));
      await copyTree(tree, copy);
      assert.equal(await findHooksFile(at(copy)), 'gatehouse.hooks.yml');
      rmSync(copy, { recursive: true });
    });

    it('is not one that lies deeper or is called otherwise, and a tree that is not there has no answer', async () => {
      mkdirSync(join(tree, 'sub'));
      for (const name of [
        'sub/gatehouse.hooks.yaml',
        'hooks.yaml',
        'gatehouse.hooks.yaml.bak',
        'xgatehouse.hooks.yaml',
      ])
        writeFileSync(join(tree, name), '');
      assert.equal(await findHooksFile(at(tree)), null);
      await assert.rejects(findHooksFile(at(join(tree, 'nothing'))));
    });
  });

  function names(text: string): Promise<readonly string[]> {
    writeFileSync(join(tree, 'h'), text);
    return readHookNames(at(tree), 'h');
  }

  describe('the names of hooks', () => {
    it('are the keys at the beginning of a line, each once', async () => {
      assert.deepEqual(
        await names(
          '---\n# a: comment\nbefore_plan:\n  - run: x\n  nested: y\r\n"after apply": |\n  text: z\n\'on.fail\' : ' +
            'x\nbefore_plan: again\n- item: x\nkey:value\n',
        ),
        ['before_plan', 'after apply', 'on.fail'],
      );
    });

    it('are not found in an empty file, another kind of file, or a link', async () => {
      assert.deepEqual(await names(''), []);
      assert.deepEqual(await names('\u0000\u0001'), []);
      symlinkSync('h', join(tree, 'l'));
      mkdirSync(join(tree, 'd'));
      for (const file of ['l', 'd', 'nothing']) assert.deepEqual(await readHookNames(at(tree), file), []);
    });

    it('are not more than can be shown, and hold nothing that cannot be seen', async () => {
      assert.equal((await names(Array.from({ length: 5_000 }, (_, n) => `k${n}: x\n`).join(''))).length, 100);
      assert.deepEqual(await names('"a\u001b[31m": x\n"b\u202e": x\nc: x\n'), ['c']);
    });
  });
});
