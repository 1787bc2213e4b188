import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Clock } from '../../lib/clock.ts';
import { SourceTrees } from './source-trees.ts';

const commit = (digit: string): string => digit.repeat(40);

describe('Source trees on disk', () => {
  let outer: string;
  let folder: string;
  let now: number;
  let trees: SourceTrees;
  beforeEach(() => {
    outer = mkdtempSync(join(tmpdir(), 'gatehouse-trees-'));
    folder = join(outer, 'trees');
    mkdirSync(folder);
    now = Date.UTC(2026, 5, 1);
    const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => undefined };
    trees = new SourceTrees(folder, clock);
  });
  afterEach(() => rmSync(outer, { recursive: true }));

  function place(source: string, id: string, content = id): Promise<string> {
    now += 1_000;
    return trees.place(source, async (into) => {
      mkdirSync(join(into, 'tree'));
      writeFileSync(join(into, 'tree', 'main.tf'), content);
      return { commit: id, tree: join(into, 'tree') };
    });
  }

  describe('the trees of git sources', () => {
    it('are found by source and commit, and nowhere else', async () => {
      assert.equal(await trees.find('ops', commit('a')), null);
      assert.equal(await place('ops', commit('a')), commit('a'));
      assert.equal(await trees.find('ops', commit('a')), join(folder, 'ops', commit('a')));
      assert.deepEqual(
        [await trees.find('ops', commit('b')), await trees.find('net', commit('a')), await trees.find('ops', '..')],
        [null, null, null],
      );
      assert.deepEqual(readdirSync(folder), ['ops']);
    });

    it('are the newest three of a source; fetching one again makes it the newest', async () => {
      for (const digit of ['a', 'b', 'c']) await place('ops', commit(digit));
      await place('ops', commit('a'));
      await place('ops', commit('d'));
      assert.deepEqual(readdirSync(join(folder, 'ops')).toSorted(), ['a', 'c', 'd'].map(commit));
      await place('net', commit('e'));
      assert.equal(readdirSync(join(folder, 'ops')).length, 3);
    });

    it('stay as they are when the same commit is fetched again: a run may be copying', async () => {
      await place('ops', commit('a'), 'first');
      await place('ops', commit('a'), 'second');
      assert.equal(readFileSync(join(folder, 'ops', commit('a'), 'main.tf'), 'utf8'), 'first');
      const made = await Promise.all(Array.from({ length: 8 }, () => place('ops', commit('b'))));
      assert.deepEqual(new Set(made), new Set([commit('b')]));
      assert.deepEqual(readdirSync(folder), ['ops']);
    });

    it('get no name when the fetch fails, and nothing of it stays', async () => {
      await assert.rejects(
        trees.place('ops', async (into) => {
          mkdirSync(join(into, 'tree'));
          throw new Error('no network');
        }),
        /no network/,
      );
      assert.deepEqual([readdirSync(folder), await trees.find('ops', commit('a'))], [[], null]);
    });

    it('are removed with their source, and a later fetch removes what a killed process left', async () => {
      await place('ops', commit('a'));
      await trees.remove('ops');
      await trees.remove('ops');
      assert.deepEqual(readdirSync(folder), []);
      for (const name of ['.gone-1', '.fetch-old', '.fetch-young']) {
        mkdirSync(join(folder, name));
        const seconds = (name === '.fetch-old' ? now - 3_600_000 : now) / 1_000;
        utimesSync(join(folder, name), seconds, seconds);
      }
      await place('ops', commit('a'));
      assert.deepEqual(readdirSync(folder).toSorted(), ['.fetch-young', 'ops']);
    });

    it('T24: belong to names, never to paths', async () => {
      for (const name of ['..', '../x', '.fetch-1', '/etc', 'a/b', '', 'A', 'x'.repeat(64)]) {
        await assert.rejects(trees.find(name, commit('a')), /the name of the source is malformed/);
        await assert.rejects(trees.remove(name), /the name of the source is malformed/);
        await assert.rejects(place(name, commit('a')), /the name of the source is malformed/);
      }
      await assert.rejects(place('ops', '../../x'), /is not a commit/);
      assert.deepEqual(readdirSync(outer), ['trees']);
    });
  });
});
