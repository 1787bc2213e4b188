import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Repository } from '../../support/attacks/hostile-repositories.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { createLauncher, type Launcher } from '../../../src/runners/launch/launch.ts';
import { needs } from '../../support/tools.ts';
import { fetchGit, type FetchLimits } from '../../../src/runners/checkout/git/git.ts';
import { GIT_PROTOCOLS } from '../../../src/runners/checkout/git/url.ts';
import { readTreeName } from '../../../src/runners/checkout/tree-names.ts';

const MEBI = 1024 * 1024;
/** Small, so that what is too large is made in no time. */
const LIMITS: FetchLimits = { files: 200, bytes: MEBI, depth: 8, timeoutMs: 30_000, packBytes: 64 * MEBI };

let base: string;
let marker: string;
let launcher: Launcher;
let count = 0;
before(() => {
  base = mkdtempSync(join(tmpdir(), 'gatehouse-hostile-'));
  marker = join(base, 'marker');
  launcher = createLauncher();
});
after(async () => {
  rmSync(base, { recursive: true });
});

const repository = (): Repository => new Repository(join(base, `repository-${(count += 1)}`));

async function fetched(from: Repository, limits = LIMITS): Promise<string> {
  const into = join(base, `into-${(count += 1)}`);
  mkdirSync(into);
  const { tree } = await fetchGit({
    launcher,
    url: from.url,
    ref: null,
    into,
    limits,
    protocols: [...GIT_PROTOCOLS, 'file'],
  });
  return tree;
}

async function isRefused(from: Repository, words: RegExp, limits = LIMITS): Promise<void> {
  await assert.rejects(fetched(from, limits), (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.match(error.message, words);
    return true;
  });
  assert.equal(existsSync(marker), false, 'something of the repository ran');
}

describe('T23: a repository of somebody who wants more than to be read', { skip: needs('git') }, () => {
  it('T23: a submodule is not fetched, and leaves nothing', async () => {
    const inner = repository();
    const commit = inner.commit();
    const from = repository().write(
      '.gitmodules',
      `[submodule "m"]\n\tpath = m\n\turl = ${inner.url}\n\tupdate = !touch ${marker}\n`,
    );
    from.git('add', '--all');
    from.git('update-index', '--add', '--cacheinfo', `160000,${commit},m`);
    from.git('commit', '--quiet', '--message', 'x');
    // Git refuses such a .gitmodules by itself; without the command it is a submodule like any other.
    await isRefused(from, /git fetch failed/);
    from.write('.gitmodules', `[submodule "m"]\n\tpath = m\n\turl = ${inner.url}\n`);
    from.git('commit', '--quiet', '--message', 'x', '--', '.gitmodules');
    assert.deepEqual(readdirSync(await fetched(from)).toSorted(), ['.gitmodules', 'main.tf']);
  });

  it('T23: hooks and configuration that lie in it are files like others, and none is run', async () => {
    const hook = `#!/bin/sh\ntouch ${marker}\n`;
    const from = repository();
    for (const name of [
      'post-checkout',
      'post-merge',
      'reference-transaction',
      'post-index-change',
      'fsmonitor-watchman',
    ])
      from.write(`hooks/${name}`, hook);
    from
      .write('config', `[core]\n\tfsmonitor = touch ${marker}\n\thooksPath = hooks\n\tsshCommand = touch ${marker}\n`)
      .write('HEAD', 'ref: refs/heads/main\n')
      .write('objects/x', '')
      .write('refs/x', '')
      .commit();
    const tree = await fetched(from);
    assert.equal(readFileSync(join(tree, 'hooks/post-checkout'), 'utf8'), hook);
    assert.equal(existsSync(marker), false);
  });

  it('T23: filters and other attributes do nothing to its files', async () => {
    const attributes =
      '* filter=evil text=auto eol=crlf ident working-tree-encoding=UTF-16 export-subst diff=evil merge=evil\n';
    const text = '$Id$ $Format:%H$\nline\n';
    const from = repository();
    from.git('config', 'filter.evil.smudge', `touch ${marker}`);
    const commit = from.commitTree([
      ['100644', '.gitattributes', from.blob(attributes)],
      ['100644', 'a.txt', from.blob(text)],
    ]);
    assert.ok(commit);
    const tree = await fetched(from);
    assert.equal(readFileSync(join(tree, 'a.txt'), 'utf8'), text);
    assert.equal(existsSync(marker), false);
  });

  it('T23: a link that leads out of it, absolute, upwards or in two steps, is refused by its name', async () => {
    await isRefused(
      repository().link('out', '/etc/passwd').withCommit(),
      /The link "out" of the repository leads out of it/,
    );
    await isRefused(
      repository().write('a/b', '').link('a/out', '../../../etc/passwd').withCommit(),
      /"a\/out" .* leads out/,
    );
    await isRefused(
      repository().write('d/e', '').link('up', 'd/..').link('out', 'up/../x').withCommit(),
      /"out" .* leads out/,
    );
    await isRefused(repository().link('away', `../tree/main.tf`).withCommit(), /"away" .* leads out/);
    await isRefused(repository().link('loop', 'loop').withCommit(), /"loop" .* leads nowhere/);
    await isRefused(repository().link('none', 'nothing').withCommit(), /"none" .* leads nowhere/);
  });

  it('T23: nothing is written through a link: neither below one nor in its place', async () => {
    const from = repository();
    const file = from.blob('evil\n');
    const below = from.tree([['100644', 'passwd', file]]);
    from.commitTree([
      ['120000', 'etc', from.blob(base)],
      ['40000', 'etc', below],
    ]);
    await isRefused(from, /git fetch failed|leads out|cannot be written/);
    const twice = repository();
    twice.commitTree(
      [
        ['100644', 'x', file],
        ['100644', 'x', file],
      ].map(([mode = '', path = '']) => [mode, path, twice.blob('evil\n')] as const),
    );
    await isRefused(twice, /git fetch failed|cannot be written/);
    assert.deepEqual(
      readdirSync(base).filter((name) => name === 'passwd'),
      [],
    );
  });

  it('T23: the folder of git in any spelling is refused', async () => {
    for (const name of [
      '.git',
      '.GIT',
      '.Git',
      '.gi\u200ct',
      'git~1',
      'GIT~1',
      '.git ',
      '.git.',
      '.git::$INDEX_ALLOCATION',
    ]) {
      const from = repository();
      const config = from.tree([['100644', 'config', from.blob(`[core]\n\tfsmonitor = touch ${marker}\n`)]]);
      from.commitTree([['40000', name, config]]);
      await isRefused(from, /git fetch failed|is an alias of the folder .git/);
      assert.throws(() => readTreeName('a', Buffer.from(name)), /is an alias of the folder .git/, name);
    }
    for (const name of ['.github', '.gitignore', '.gitmodules', 'git', 'a.git', 'git~x'])
      assert.equal(readTreeName('', Buffer.from(name)), name);
  });

  it('T23: a path with a carriage return or other control character, or that leads elsewhere, is refused', async () => {
    for (const name of ['a\r', 'a\nb', 'a\u001b[31m', 'a\u0085', 'a\\b', '..', '.', 'a/b', '\u2028']) {
      const from = repository();
      from.commitTree([['100644', name, from.blob('x')]]);
      await isRefused(
        from,
        name === 'a/b' ? /git fetch failed/ : /git fetch failed|control character|backslash|leads elsewhere/,
      );
      assert.throws(() => readTreeName('', Buffer.from(name)), /has a|leads elsewhere/);
    }
    assert.throws(() => readTreeName('', Buffer.from([0x61, 0xff])), /not UTF-8/);
    assert.throws(() => readTreeName('', Buffer.from('x'.repeat(256))), /too long/);
  });

  it('T23: a .gitmodules path that ends in a carriage return (CVE-2025-48384) fetches and writes nothing', async () => {
    const inner = repository().write('post-checkout', `#!/bin/sh\ntouch ${marker}\n`);
    const commit = inner.commit();
    const from = repository();
    const modules = `[submodule "sub"]\n\tpath = "sub\r"\n\turl = ${inner.url}\n`;
    from.commitTree([
      ['100644', '.gitmodules', from.blob(modules)],
      ['160000', 'sub\r', commit],
    ]);
    await isRefused(from, /git fetch failed|control character/);
  });

  it('T23: a file over the limit is refused before it is written, and so is a pack over its own', async () => {
    // Zeros: some kilobytes on the way, two mebibytes on the disk.
    await isRefused(
      repository()
        .write('zeros', Buffer.alloc(2 * MEBI))
        .withCommit(),
      /more than 1048576 bytes/,
    );
    const noise = repository().write(
      'noise',
      Buffer.concat(Array.from({ length: 64 }, () => crypto.getRandomValues(Buffer.alloc(65_536)))),
    );
    await isRefused(noise.withCommit(), /git: the repository has more than 1000 bytes/, {
      ...LIMITS,
      bytes: 10 * MEBI,
      packBytes: 1000,
    });
  });

  it('T23: too many files, too deep folders, and a tree that lists more files than it has are refused', async () => {
    const many = repository();
    for (let n = 0; n <= LIMITS.files; n += 1) many.write(`f/${n}`, '');
    await isRefused(many.withCommit(), /more than 200 files/);
    await isRefused(repository().write('1/2/3/4/5/6/7/8/9', '').withCommit(), /deeper than 8/);
    const bomb = repository();
    let tree = bomb.tree([['100644', 'f', bomb.blob('x')]]);
    // Ten to the power of seven files in eight objects.
    for (let level = 0; level < 7; level += 1)
      tree = bomb.tree(Array.from({ length: 10 }, (_, n) => ['40000', `d${n}`, tree] as const));
    bomb.commitTree([['40000', 'd', tree]]);
    await isRefused(bomb, /more than 200 files|deeper than 8/);
  });

  it('T23: the pointer of a large file stays a pointer', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;
    const from = repository()
      .write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
      .write('.lfsconfig', '[lfs]\n\turl = https://169.254.169.254/x\n')
      .write('x.bin', pointer);
    from.commit();
    assert.equal(readFileSync(join(await fetched(from), 'x.bin'), 'utf8'), pointer);
  });

  it('T23: an object that is not what its name says, or an invalid mode, is refused', async () => {
    const from = repository();
    from.commitTree([['100644', 'x', 'ab'.repeat(20)]]);
    await isRefused(from, /git fetch failed/);
    const odd = repository();
    odd.commitTree([
      ['100644', 'device', odd.blob('x')],
      ['060000', 'node', odd.blob('y')],
    ]);
    await isRefused(odd, /git fetch failed|neither a file nor a link/);
  });
});
