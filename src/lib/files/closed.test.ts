import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { needs } from '../../../test/support/tools.ts';
import { isReadByOthers, type Opening, openingForRoot, openingOf, openingText } from './closed.ts';

/** The numbers of two accounts that are neither root nor that of the test; the second one is also a group. */
const SELF = TEST_ACCOUNT.uid;
const OTHER = 64_321;
/** Every Debian has these: a group with the account `daemon` in it, and one that no account is in. */
const GROUP_OF_DAEMON = 1;
const GROUP_WITHOUT_MEMBERS = 50;

interface Case {
  readonly name: string;
  /** Of the folders `above` and `above/folder`, and of the file `above/folder/file`; else root with 0755 and 0644. */
  readonly above?: { readonly mode?: number; readonly uid?: number; readonly gid?: number };
  readonly folder?: Case['above'];
  readonly file?: Case['above'];
  /** What is open for root, by its last name; null is closed. */
  readonly root: string | null;
  /** The same for the account SELF. */
  readonly self: string | null;
}

const CASES: readonly Case[] = [
  { name: 'all of root', root: null, self: null },
  { name: 'a file of this account', file: { uid: SELF, mode: 0o600 }, root: 'file', self: null },
  { name: 'a file of another account', file: { uid: OTHER, mode: 0o600 }, root: 'file', self: 'file' },
  { name: 'a file that all may write', file: { mode: 0o646 }, root: 'file', self: 'file' },
  { name: 'a file that all may read', file: { mode: 0o444 }, root: null, self: null },
  { name: 'a folder that all may write', folder: { mode: 0o777 }, root: 'folder', self: 'folder' },
  { name: 'a folder above that all may write', above: { mode: 0o777 }, root: 'above', self: 'above' },
  { name: 'a folder of root with the sticky bit', folder: { mode: 0o1777 }, root: null, self: null },
  {
    name: 'a file of another account in a folder with the sticky bit',
    folder: { mode: 0o1777 },
    file: { uid: OTHER },
    root: 'file',
    self: 'file',
  },
  { name: 'a folder above of this account', above: { uid: SELF, mode: 0o700 }, root: 'above', self: null },
  {
    name: 'a folder above of another account with the sticky bit',
    above: { uid: OTHER, mode: 0o1777 },
    root: 'above',
    self: 'above',
  },
  { name: 'a group that has a member', file: { gid: GROUP_OF_DAEMON, mode: 0o664 }, root: 'file', self: 'file' },
  {
    name: 'a folder of a group that has a member',
    folder: { gid: GROUP_OF_DAEMON, mode: 0o2775 },
    root: 'folder',
    self: 'folder',
  },
  { name: 'a group without members', folder: { gid: GROUP_WITHOUT_MEMBERS, mode: 0o2775 }, root: null, self: null },
  { name: 'a group that the machine does not know', file: { gid: OTHER, mode: 0o664 }, root: 'file', self: 'file' },
];

function folderOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-closed-'));
  t.after(() => rmSync(dir, { recursive: true }));
  chmodSync(dir, 0o755);
  return dir;
}

function tree(dir: string, { above = {}, folder = {}, file = {} }: Partial<Case> = {}): string {
  const path = join(dir, 'above', 'folder', 'file');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  const entries = [
    [path, file, 0o644],
    [dirname(path), folder, 0o755],
    [dirname(dirname(path)), above, 0o755],
  ] as const;
  for (const [at, { mode, uid, gid }, usual] of entries) {
    if (uid !== undefined || gid !== undefined) chownSync(at, uid ?? 0, gid ?? 0);
    chmodSync(at, mode ?? usual);
  }
  return path;
}

const lastName = (opening: Opening | null): string | null => opening?.path.split('/').at(-1) ?? null;

/** What another account says of the paths. */
function asSelf(paths: readonly string[]): (Opening | null)[] {
  const program =
    `import { openingOf } from ${JSON.stringify(join(import.meta.dirname, 'closed.ts'))};` +
    'console.log(JSON.stringify(process.argv.slice(1).map((path) => openingOf(path))));';
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, ...paths];
  const env = { PATH: '/usr/bin:/bin' };
  return JSON.parse(
    execFileSync(process.execPath, words, { ...TEST_ACCOUNT, env, cwd: '/', encoding: 'utf8' }),
  ) as (Opening | null)[];
}

suite('T89: what only root and this account can change', () => {
  test('T89: each owner and mode of a file and of the folders above it', { skip: NO_ROOT }, (t) => {
    const dir = folderOf(t);
    for (const [index, each] of CASES.entries()) {
      const root = join(dir, String(index));
      mkdirSync(root);
      assert.equal(lastName(openingOf(tree(root, each))), each.root, each.name);
    }
  });

  const reached = needs('root', 'a checkout that every account reaches');
  test('T89: the same as an account that is not root', { skip: NO_ROOT || reached }, (t) => {
    const dir = folderOf(t);
    const paths = CASES.map((each, index) => {
      const root = join(dir, String(index));
      mkdirSync(root);
      return tree(root, each);
    });
    const found = asSelf(paths);
    for (const [index, { name, self }] of CASES.entries()) assert.equal(lastName(found[index] ?? null), self, name);
  });

  test('T89: modes count for the account of the test too, root or not', (t) => {
    const dir = folderOf(t);
    const path = tree(dir);
    assert.equal(openingOf(path), null);
    chmodSync(path, 0o666);
    assert.equal(openingOf(path)?.path, path);
    assert.equal(
      openingText(openingOf(path)!),
      `${path} has mode 0666, so that others can change it: chmod ${groupIsClosed(path) ? 'o' : 'go'}-w ${path}`,
    );
    assert.equal(openingForRoot(path) === null, process.geteuid?.() !== 0);
    chmodSync(path, 0o600);
    chmodSync(join(dir, 'above'), 0o757);
    assert.equal(openingOf(path)?.path, join(dir, 'above'));
    chmodSync(join(dir, 'above'), 0o1757);
    assert.equal(openingOf(path), null);
    assert.equal(openingOf(join(dir, 'above'))?.path, join(dir, 'above'), 'others can make an entry in it');
  });

  test('T89: a link is as closed as its folders and those of its target', (t) => {
    const dir = folderOf(t);
    const path = tree(dir);
    const links = join(dir, 'links');
    mkdirSync(links);
    symlinkSync('../above/./folder/../folder/file', join(links, 'relative'));
    symlinkSync(path, join(links, 'absolute'));
    symlinkSync(join(dir, 'above'), join(links, 'folder'));
    const all = ['relative', 'absolute', 'folder/folder/file'].map((name) => join(links, name));
    for (const each of all) assert.equal(openingOf(each), null, each);
    chmodSync(join(dir, 'above', 'folder'), 0o707);
    for (const each of all) assert.equal(openingOf(each)?.path, join(dir, 'above', 'folder'), each);
    // As the kernel: to the parent of the target, not to that of the link.
    assert.equal(openingOf(join(links, 'folder', 'folder') + '/../folder/file')?.path, join(dir, 'above', 'folder'));
    symlinkSync(join(dir, 'above', 'folder'), join(links, 'inner'));
    chmodSync(join(dir, 'above', 'folder'), 0o755);
    chmodSync(join(dir, 'above'), 0o707);
    assert.equal(openingOf(`${links}/inner/../folder/file`)?.path, join(dir, 'above'));
    assert.equal(openingOf(join(links, 'inner', '..')), null, 'that path is the folder of the links');
    chmodSync(join(dir, 'above'), 0o755);
    chmodSync(links, 0o707);
    for (const each of all) assert.equal(openingOf(each)?.path, links, each);
    chmodSync(links, 0o755);
    symlinkSync('loop', join(links, 'loop'));
    assert.equal(openingOf(join(links, 'loop')), null, 'it cannot be opened');
  });

  test('T89: what is missing is open where others can make it', (t) => {
    const dir = folderOf(t);
    const path = join(dir, 'none', 'file');
    assert.equal(openingOf(path), null);
    chmodSync(dir, 0o1777);
    assert.deepEqual([openingOf(path)?.path, openingOf(path)?.remedy], [join(dir, 'none'), 'choose another place']);
  });

  test('T89: a device, a pipe and the output of another program are closed', () => {
    for (const path of ['/dev/null', '/dev/stdin', '/proc/self/fd/0', '/proc/self/status'])
      assert.equal(openingOf(path), null, path);
  });

  test('T89: a path with unusual characters is quoted in the command', (t) => {
    const path = join(folderOf(t), "it's a file");
    writeFileSync(path, '');
    chmodSync(path, 0o606);
    assert.match(openingOf(path)?.remedy ?? '', /^chmod o-w '.*it'\\''s a file'$/);
  });

  test('T89: others read a file by its mode, and not by a group that has no other member', () => {
    const facts = { uid: 0, gid: GROUP_OF_DAEMON };
    assert.deepEqual(
      [0o600, 0o620, 0o640, 0o604].map((mode) => isReadByOthers({ ...facts, mode })),
      [false, false, true, true],
    );
  });
});

/** Whether the mode 0660 is closed for the group of new files of this account. */
function groupIsClosed(path: string): boolean {
  chmodSync(path, 0o660);
  const isClosed = openingOf(path) === null;
  chmodSync(path, 0o666);
  return isClosed;
}
