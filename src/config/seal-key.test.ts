import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Failure } from '../domain/failure.ts';
import { formatSealKey, loadOrCreateSealKey, readSealKey } from './seal-key.ts';
import { needs } from '../../test/support/tools.ts';

const notNeeded = (): boolean => false;
const needed = (): boolean => true;
const refusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === 'invalid_argument' && pattern.test(error.message);

describe('the seal key', () => {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gatehouse-seal-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('T06: is 32 random bytes in one line of a file that only its owner reads, and stays the same', async () => {
    const path = join(dir, 'seal.key');
    const key = await loadOrCreateSealKey(path, notNeeded);
    assert.equal(key.length, 32);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.match(await readFile(path, 'utf8'), /^gatehouse-seal-1 [A-Za-z0-9+/]{43}= [0-9a-f]{16}\n$/);
    assert.deepEqual(await loadOrCreateSealKey(path, needed), key);
    assert.notDeepEqual(await loadOrCreateSealKey(join(dir, 'another.key'), notNeeded), key);
  });

  test('fifty that start at once in one process get one key', async () => {
    const path = join(dir, 'at-once.key');
    const keys = await Promise.all(Array.from({ length: 50 }, () => loadOrCreateSealKey(path, notNeeded)));
    assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
  });

  test('twenty processes that start at once get one key', async () => {
    const folder = join(dir, 'processes');
    await mkdir(folder);
    const path = join(folder, 'seal.key');
    const module = new URL('seal-key.ts', import.meta.url).href;
    // Each waits for its standard input to end, so that all of them begin together.
    const program = `const { loadOrCreateSealKey } = await import(${JSON.stringify(module)});
      const { createHash } = await import('node:crypto');
      process.stdout.write('.');
      for await (const _ of process.stdin);
      const key = await loadOrCreateSealKey(${JSON.stringify(path)}, () => false);
      process.stdout.write(createHash('sha256').update(key).digest('hex'));`;
    const children = Array.from({ length: 20 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    await Promise.all(children.map((child) => once(child.stdout, 'readable')));
    const outputs = children.map((child) => text(child.stdout));
    for (const child of children) child.stdin.end();
    const answers = new Set(await Promise.all(outputs));
    assert.equal(answers.size, 1);
    assert.match([...answers][0]!, /^\.[0-9a-f]{64}$/);
    assert.deepEqual(await readdir(folder), ['seal.key']);
  });

  test('F09: a torn, empty, longer or altered file is refused and left as it is', async () => {
    const whole = formatSealKey(Buffer.alloc(32, 7));
    const contents = [
      '',
      '\n',
      ...[1, 16, 17, 30, 60, 61, 77, 78].map((length) => whole.slice(0, length)),
      `${whole}\n`,
      `${whole}${whole}`,
      whole.replace('B', 'C'),
    ];
    const path = join(dir, 'torn.key');
    for (const content of contents) {
      assert.notEqual(content, whole);
      await writeFile(path, content, { mode: 0o600 });
      await assert.rejects(
        loadOrCreateSealKey(path, notNeeded),
        refusal(/torn\.key (is empty|is torn or altered, or of a newer build): put the key back from a backup\.$/),
        JSON.stringify(content),
      );
      assert.equal(await readFile(path, 'utf8'), content);
    }
  });

  test('F09: every single altered byte is noticed', async () => {
    const path = join(dir, 'flipped.key');
    const whole = Buffer.from(formatSealKey(Buffer.alloc(32, 7)));
    for (let i = 0; i < whole.length; i += 1) {
      const altered = Buffer.from(whole);
      altered[i]! ^= 1;
      await writeFile(path, altered, { mode: 0o600 });
      const state = await readSealKey(path);
      assert.equal(state.ok, false, `byte ${i}`);
    }
  });

  test('T06: a file that others may read is refused, with what to do', async () => {
    const path = join(dir, 'open.key');
    await loadOrCreateSealKey(path, notNeeded);
    for (const mode of [0o644, 0o640, 0o602, 0o601]) {
      await chmod(path, mode);
      await assert.rejects(
        loadOrCreateSealKey(path, notNeeded),
        refusal(/open\.key has mode 06[04][0-4], so that others can read it: set it to 0600\.$/),
      );
    }
    await chmod(path, 0o400);
    assert.equal((await loadOrCreateSealKey(path, notNeeded)).length, 32);
  });

  test('a missing key is not replaced while the store holds what needs it', async () => {
    const path = join(dir, 'lost.key');
    await assert.rejects(
      loadOrCreateSealKey(path, needed),
      refusal(/lost\.key is missing, and the store is in use with that key: copy the file from the daemon/),
    );
    await assert.rejects(stat(path), { code: 'ENOENT' });
  });

  test('a key and a token that another process makes between two looks are no lost key', async () => {
    const path = join(dir, 'raced.key');
    const key = Buffer.alloc(32, 9);
    const answer = async (): Promise<boolean> => {
      await writeFile(path, formatSealKey(key), { mode: 0o600 });
      return true;
    };
    assert.deepEqual(await loadOrCreateSealKey(path, answer), key);
  });

  test('a folder, a link to nowhere and a missing folder are refused; a link to a key is followed', async () => {
    await mkdir(join(dir, 'folder.key'));
    await assert.rejects(
      loadOrCreateSealKey(join(dir, 'folder.key'), notNeeded),
      refusal(/folder\.key is not a regular file\.$/),
    );
    await symlink(join(dir, 'nowhere'), join(dir, 'dangling.key'));
    await assert.rejects(
      loadOrCreateSealKey(join(dir, 'dangling.key'), notNeeded),
      refusal(/dangling\.key is missing\.$/),
    );
    await assert.rejects(
      loadOrCreateSealKey(join(dir, 'no', 'seal.key'), notNeeded),
      refusal(/seal\.key cannot be created: no such file or directory \(ENOENT\)\.$/),
    );
    const real = await loadOrCreateSealKey(join(dir, 'real.key'), notNeeded);
    await symlink(join(dir, 'real.key'), join(dir, 'link.key'));
    assert.deepEqual(await loadOrCreateSealKey(join(dir, 'link.key'), notNeeded), real);
  });

  test('a key that another user owns is refused', { skip: needs('root') }, async () => {
    const path = join(dir, 'foreign.key');
    await loadOrCreateSealKey(path, notNeeded);
    await copyFile(path, join(dir, 'kept'));
    await chown(path, 12_345, 12_345);
    await assert.rejects(
      loadOrCreateSealKey(path, notNeeded),
      refusal(/belongs to user 12345; expected the user of this process\.$/),
    );
  });
});
