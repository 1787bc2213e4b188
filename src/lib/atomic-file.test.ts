import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createExclusive, writeFileAtomic } from './atomic-file.ts';

describe('files that appear whole', () => {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gatehouse-atomic-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('writing replaces content and mode and leaves nothing beside it', async () => {
    const path = join(dir, 'config');
    await writeFile(path, 'old', { mode: 0o644 });
    await writeFileAtomic(path, 'new', 0o600);
    assert.equal(await readFile(path, 'utf8'), 'new');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(dir), ['config']);
  });

  test('F09: a write that fails leaves the old content and no temporary file', async () => {
    const folder = await mkdtemp(join(dir, 'taken-'));
    await writeFile(join(folder, 'inside'), 'kept');
    await assert.rejects(writeFileAtomic(folder, 'new', 0o600));
    assert.equal(await readFile(join(folder, 'inside'), 'utf8'), 'kept');
    assert.deepEqual(
      (await readdir(dir)).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('F09: readers during a hundred replacements see whole contents only', async () => {
    const path = join(dir, 'replaced');
    const size = 100_000;
    await writeFileAtomic(path, 'a'.repeat(size), 0o600);
    const whole = ['a'.repeat(size), 'b'.repeat(size)];
    const stop = new AbortController();
    let partial = 0;
    let reads = 0;
    const reader = (async () => {
      while (!stop.signal.aborted) {
        if (!whole.includes(await readFile(path, 'utf8'))) partial += 1;
        reads += 1;
      }
    })();
    for (let i = 0; i < 100; i += 1) await writeFileAtomic(path, whole[i % 2]!, 0o600);
    stop.abort();
    await reader;
    assert.ok(reads > 0);
    assert.equal(partial, 0);
  });

  test('of fifty that make one file at once exactly one does, and its content stays', async () => {
    const path = join(dir, 'once');
    const made = await Promise.all(Array.from({ length: 50 }, (_, i) => createExclusive(path, `content ${i}`, 0o600)));
    assert.equal(made.filter(Boolean).length, 1);
    assert.equal(await readFile(path, 'utf8'), `content ${made.indexOf(true)}`);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(
      (await readdir(dir)).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('a link to nowhere counts as there', async () => {
    const path = join(dir, 'dangling');
    await symlink(join(dir, 'nowhere'), path);
    assert.equal(await createExclusive(path, 'x', 0o600), false);
    await assert.rejects(readFile(path), { code: 'ENOENT' });
  });

  test('a missing folder is the system error with its name', async () => {
    await assert.rejects(createExclusive(join(dir, 'no', 'file'), 'x', 0o600), { code: 'ENOENT' });
  });
});
