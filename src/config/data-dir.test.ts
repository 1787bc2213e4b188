import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Failure } from '../domain/failure.ts';
import { DATA_DIR_ENTRIES, foldersIn, prepareDataDir } from './data-dir.ts';
import { needs } from '../../test/support/tools.ts';

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const refusal = (text: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === 'invalid_argument' && text.test(error.message);

describe('the data directory', () => {
  let root = '';
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'gatehouse-data-')));
  });
  after(() => rm(root, { recursive: true }));

  test('T06: is made with its parents and folders, closed to other users', async () => {
    const dir = join(root, 'a', 'b', 'data');
    const paths = await prepareDataDir(dir);
    for (const path of [join(root, 'a'), join(root, 'a', 'b'), dir, ...foldersIn(dir).map(({ path }) => path)]) {
      assert.equal(await modeOf(path), 0o700, path);
    }
    assert.deepEqual(paths, {
      dir,
      database: join(dir, 'gatehouse.db'),
      sealKey: join(dir, 'seal.key'),
      runs: join(dir, 'runs'),
      instances: join(dir, 'instances'),
      sources: join(dir, 'sources'),
      backups: join(dir, 'backups'),
    });
    assert.deepEqual(Object.keys(paths), ['dir', ...Object.keys(DATA_DIR_ENTRIES)]);
  });

  test('twenty that prepare it at once, parents and all, succeed', async () => {
    const dir = join(root, 'at', 'once');
    const all = await Promise.all(Array.from({ length: 20 }, () => prepareDataDir(dir)));
    assert.equal(new Set(all.map((paths) => paths.dir)).size, 1);
  });

  test('T06: one that is open to others is closed, and its folders too', async () => {
    const { dir, runs } = await prepareDataDir(join(root, 'open'));
    await chmod(dir, 0o755);
    await chmod(runs, 0o777);
    await prepareDataDir(dir);
    assert.deepEqual([await modeOf(dir), await modeOf(runs)], [0o700, 0o700]);
  });

  test('one whose owner lost rights gets them back', async () => {
    const { dir } = await prepareDataDir(join(root, 'locked'));
    await chmod(dir, 0o500);
    await prepareDataDir(dir);
    assert.equal(await modeOf(dir), 0o700);
  });

  test('a shared directory with other things in it is refused and keeps its mode', async () => {
    const dir = join(root, 'shared');
    await mkdir(dir, { mode: 0o755 });
    await writeFile(join(dir, 'letter.txt'), 'not ours');
    await assert.rejects(
      prepareDataDir(dir),
      refusal(/^--data-dir: .*shared is open to other users and holds other things/),
    );
    assert.equal(await modeOf(dir), 0o755);
  });

  test('T89: a folder with an entry named as one of ours is refused and keeps its mode', async () => {
    const dir = join(root, 'system');
    await mkdir(dir, { mode: 0o755 });
    for (const name of ['runs', 'instances']) {
      await mkdir(join(dir, name));
      await assert.rejects(prepareDataDir(dir), refusal(/system is open to other users and holds other things/), name);
    }
    await symlink(join(root, 'elsewhere'), join(dir, DATA_DIR_ENTRIES.database.name));
    await assert.rejects(prepareDataDir(dir), refusal(/system is open to other users and holds other things/));
    assert.equal(await modeOf(dir), 0o755);
  });

  test('T89: root takes none by a link or below a folder of another account', { skip: needs('root') }, async () => {
    const [dir, target] = [join(root, 'others'), join(root, 'of-root')];
    await mkdir(dir);
    await mkdir(target, { mode: 0o755 });
    await symlink(target, join(dir, 'link'));
    const refused = async (path: string): Promise<void> => {
      await assert.rejects(prepareDataDir(path), refusal(/^--data-dir: .* belongs to user 12345: chown root /), path);
      assert.deepEqual([await modeOf(target), await readdir(target), await readdir(dir)], [0o755, [], ['link']], path);
    };
    await chown(dir, 12_345, 12_345);
    for (const path of ['link', 'link/data', 'data', 'a/b/data']) await refused(join(dir, path));
    // As in /tmp: who owns the link may exchange it, and none else.
    await chown(dir, 0, 0);
    await chmod(dir, 0o1777);
    await lchown(join(dir, 'link'), 12_345, 12_345);
    for (const path of ['link', 'link/data']) await refused(join(dir, path));
    assert.equal(await modeOf((await prepareDataDir(join(dir, 'a', 'data'))).dir), 0o700);
  });

  test('T89: root takes no folder of it by a link of another account', { skip: needs('root') }, async () => {
    const { dir, runs } = await prepareDataDir(join(root, 'parts'));
    const [others, target] = [join(root, 'others-disk'), join(root, 'target')];
    for (const each of [others, target]) await mkdir(each, { mode: 0o755 });
    await symlink(target, join(others, 'link'));
    await chown(others, 12_345, 12_345);
    await rm(runs, { recursive: true });
    await symlink(join(others, 'link'), runs);
    await assert.rejects(
      prepareDataDir(dir),
      refusal(/^--data-dir: .*runs cannot be trusted: .* belongs to user 12345/),
    );
    assert.equal(await modeOf(target), 0o755);
  });

  test('a fresh file system, empty but for lost+found, is taken', async () => {
    const dir = join(root, 'mounted');
    await mkdir(join(dir, 'lost+found'), { recursive: true, mode: 0o755 });
    await prepareDataDir(dir);
    assert.equal(await modeOf(dir), 0o700);
  });

  test('a link is followed, and the paths are those behind it', async () => {
    const dir = join(root, 'behind');
    await mkdir(dir);
    await symlink(dir, join(root, 'link'));
    assert.equal((await prepareDataDir(join(root, 'link'))).dir, dir);
  });

  test('a file, a path through a file and a link to nowhere are refused by name', async () => {
    await writeFile(join(root, 'file'), '');
    await symlink(join(root, 'nowhere', 'x'), join(root, 'dangling'));
    await assert.rejects(prepareDataDir(join(root, 'file')), refusal(/^--data-dir: .*file is not a directory\.$/));
    await assert.rejects(
      prepareDataDir(join(root, 'file', 'x')),
      refusal(/^--data-dir: .*a part of the path is not a directory\.$/),
    );
    await assert.rejects(prepareDataDir(join(root, 'dangling')), refusal(/^--data-dir: .*dangling cannot be used/));
  });

  test('one that belongs to another user is refused', { skip: needs('root') }, async () => {
    const dir = join(root, 'foreign');
    await mkdir(dir);
    await chown(dir, 12_345, 12_345);
    await assert.rejects(prepareDataDir(dir), refusal(/^--data-dir: .*foreign belongs to user 12345: chown root /));
  });
});
