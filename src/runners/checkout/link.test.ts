import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { copyTree } from './copy-tree.ts';
import { LINK_STEPS_MAX, LinkFollower, type TreeEntry } from './link.ts';

const FILE: TreeEntry = { kind: 'file', executable: false, digest: '' };
const FOLDER: TreeEntry = { kind: 'folder' };
const link = (target: string): TreeEntry => ({ kind: 'link', target });

/** Each of the links passes through a folder a thousand times and then through the one before it. */
function windingLinks(count: number): [path: string, target: string][] {
  const winding = 'd/../'.repeat(800);
  return Array.from({ length: count }, (_, n) => [`l${n}`, n % 39 === 0 ? `${winding}d/f` : `${winding}l${n - 1}`]);
}

describe('a symbolic link of a tree', () => {
  const entries = new Map<string, TreeEntry>([
    ['d', FOLDER],
    ['d/e', FOLDER],
    ['d/f', FILE],
    ['d/up', link('..')],
    ['d/same', link('f')],
    ['through', link('d/up/d/e')],
    ['file/below', FILE],
    ['under', link('d/f/x')],
    ['slash', link('d/f/')],
    ['self', link('self')],
    ['a', link('b')],
    ['b', link('a')],
    ['root', link('.')],
    ['above', link('d/up/..')],
    ['absolute', link('/d/f')],
    ['none', link('nothing')],
    ['empty', link('')],
    ['back', link('../tree/d')],
  ]);

  it('leads where the kernel would follow it to', () => {
    const expected = {
      'd/up': 'inside',
      'd/same': 'inside',
      through: 'inside',
      root: 'inside',
      under: 'nowhere',
      slash: 'nowhere',
      self: 'nowhere',
      a: 'nowhere',
      b: 'nowhere',
      above: 'outside',
      absolute: 'outside',
      none: 'nowhere',
      empty: 'nowhere',
      back: 'outside',
    };
    for (const [path, end] of Object.entries(expected)) assert.equal(new LinkFollower(entries).endOf(path), end, path);
    // The answers do not depend on what was asked before.
    const one = new LinkFollower(entries);
    for (const [path, end] of Object.entries(expected)) assert.equal(one.endOf(path), end, path);
  });

  it('may pass through 40 links, in whichever order they are asked for', () => {
    const chain = new Map<string, TreeEntry>([
      ['f', FILE],
      ...Array.from({ length: 41 }, (_, n): [string, TreeEntry] => [`l${n + 1}`, link(n === 0 ? 'f' : `l${n}`)]),
    ]);
    for (const paths of [
      ['l41', 'l40'],
      ['l1', 'l20', 'l40', 'l41'],
      ['l40', 'l41'],
    ]) {
      const follower = new LinkFollower(chain);
      for (const path of paths) assert.equal(follower.endOf(path), path === 'l41' ? 'nowhere' : 'inside', path);
    }
  });

  it('costs its own text once, however many links lead through it', () => {
    const many = new Map<string, TreeEntry>([
      ['d', FOLDER],
      ['d/f', FILE],
      ['long', link(`${'d/../'.repeat(800)}d`)],
    ]);
    for (let n = 0; n < 10_000; n += 1) many.set(`l${n}`, link('long/f'));
    const follower = new LinkFollower(many);
    for (let n = 0; n < 10_000; n += 1) assert.equal(follower.endOf(`l${n}`), 'inside');
  });

  it('T69: 339 links that wind through each other are refused at the budget of the tree', () => {
    const winding = new Map<string, TreeEntry>([
      ['d', FOLDER],
      ['d/f', FILE],
      ...windingLinks(339).map(([path, target]): [string, TreeEntry] => [path, link(target)]),
    ]);
    const follower = new LinkFollower(winding);
    assert.throws(
      () => {
        for (const path of winding.keys()) if (path.startsWith('l')) follower.endOf(path);
      },
      new RegExp(`take more than ${LINK_STEPS_MAX} steps`),
    );
  });
});

describe('a copy of a tree with links', () => {
  let base: string;
  before(() => (base = mkdtempSync(join(tmpdir(), 'gatehouse-link-'))));
  after(() => rmSync(base, { recursive: true }));

  function folder(name: string): string {
    const path = join(base, name);
    mkdirSync(path);
    return path;
  }

  it('T69: is refused for links that hold the daemon', async () => {
    const from = folder('winding');
    mkdirSync(join(from, 'd'));
    writeFileSync(join(from, 'd/f'), '');
    for (const [path, target] of windingLinks(339)) symlinkSync(target, join(from, path));
    await assert.rejects(copyTree(from, folder('winding-copy')), new RegExp(`take more than ${LINK_STEPS_MAX} steps`));
  });

  it('T69: ends soon after it is cancelled, before and while links are made', async () => {
    const from = folder('many');
    writeFileSync(join(from, 'f'), '');
    for (let n = 0; n < 600; n += 1) symlinkSync('f', join(from, `l${n}`));
    const reason = new Error('cancelled');
    await assert.rejects(copyTree(from, folder('none'), { signal: AbortSignal.abort(reason) }), reason);
    const to = folder('some');
    const stop = new AbortController();
    const copying = copyTree(from, to, { signal: stop.signal });
    const watch = setInterval(() => readdirSync(to).length > 100 && stop.abort(reason), 0);
    await assert.rejects(copying, reason);
    clearInterval(watch);
    assert.ok(readdirSync(to).length < 600);
  });
});
