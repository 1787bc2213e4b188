import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { refusal } from '../../test/support/refusal.ts';
import { createSealKeeper } from './seal-keeper.ts';
import { appendSealKey, formatSealKey, loadOrCreateSealKey, readSealKey, SEAL_KEYS_MAX } from './seal-key.ts';
import { holdKeyFile } from './seal-lock.ts';

const LABEL = ['secret', 'net', 'token', '1'];
const notNeeded = (): boolean => false;

async function keysIn(path: string): Promise<readonly string[]> {
  const state = await readSealKey(path);
  assert.ok(state.ok);
  return state.keys.map(({ key }) => Buffer.from(key).toString('hex'));
}

function moduleUrl(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href);
}

async function assertTorn(path: string, content: string | Buffer, what: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  const keeper = createSealKeeper(path, notNeeded);
  await assert.rejects(keeper.keyring(), refusal('invalid_argument', /seal\.key (is empty|is torn or altered)/), what);
  await assert.rejects(keeper.rotate(), refusal('invalid_argument', /seal\.key (is empty|is torn or altered)/), what);
  assert.deepEqual(await readFile(path), Buffer.from(content), `${what}: it was changed`);
}

/** Starts a program on a key file; it begins when its standard input ends. */
function startOn(path: string, body: string) {
  const program = `const { createSealKeeper } = await import(${moduleUrl('seal-keeper.ts')});
  const { holdKeyFile } = await import(${moduleUrl('seal-lock.ts')});
  const path = ${JSON.stringify(path)};
  process.stdout.write('.');
  for await (const _ of process.stdin);
  ${body}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] });
}

describe('The keeper of the seal key', () => {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
  });
  after(() => rm(dir, { recursive: true }));

  /** A path in a separate folder, so that nothing but its files is in there. */
  async function freshPath(): Promise<string> {
    return join(await mkdtemp(join(dir, 'k')), 'seal.key');
  }

  describe('the key file', () => {
    test('is made by who first needs it, unless the store needs one that was there', async () => {
      const path = await freshPath();
      const ring = await createSealKeeper(path, notNeeded).keyring();
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.equal((await createSealKeeper(path, notNeeded).keyring()).activeId, ring.activeId);
      const lost = await freshPath();
      await assert.rejects(
        createSealKeeper(lost, () => true).keyring(),
        refusal('invalid_argument', /seal\.key is missing, and the store is in use with that key/),
      );
      await assert.rejects(createSealKeeper(lost, () => true).rotate(), refusal('invalid_argument', /is missing/));
    });

    test('is looked for without making one', async () => {
      const path = await freshPath();
      const keeper = createSealKeeper(path, notNeeded);
      assert.equal(await keeper.find(), null);
      await assert.rejects(stat(path), { code: 'ENOENT' });
      await keeper.keyring();
      assert.equal((await keeper.find())?.activeId, (await keeper.keyring()).activeId);
      await chmod(path, 0o644);
      await assert.rejects(keeper.find(), refusal('invalid_argument', /others can read it/));
    });

    test('a rotation adds a key that seals; the one before opens, and still is the key of the tokens', async () => {
      const path = await freshPath();
      const keeper = createSealKeeper(path, notNeeded);
      const first = await loadOrCreateSealKey(path, notNeeded);
      const old = await keeper.keyring();
      const sealed = old.seal(LABEL, Buffer.from('value'));
      const text = await readFile(path, 'utf8');
      const began = Date.now();
      const ring = await keeper.rotate();
      assert.notEqual(ring.activeId, old.activeId);
      assert.ok((ring.activeSince ?? 0) >= began && (ring.activeSince ?? 0) <= Date.now());
      assert.equal(Buffer.from(ring.open(LABEL, sealed)).toString(), 'value');
      assert.deepEqual(await loadOrCreateSealKey(path, notNeeded), first);
      assert.match(
        (await readFile(path, 'utf8')).slice(text.length),
        /^gatehouse-seal-2 [A-Za-z0-9+/]{43}= \d{13} [0-9a-f]{16}\n$/,
      );
      assert.ok((await readFile(path, 'utf8')).startsWith(text), 'what was there stays as it was');
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(join(path, '..')), ['seal.key']);
    });

    test('another process has rotated: the next one to ask sees it', async () => {
      const path = await freshPath();
      const [one, other] = [createSealKeeper(path, notNeeded), createSealKeeper(path, notNeeded)];
      const before = await one.keyring();
      assert.equal(await one.keyring(), before, 'it is not read again while nothing changed');
      const rotated = await other.rotate();
      assert.equal((await one.keyring()).activeId, rotated.activeId);
    });

    test('T06: is refused from the moment on that others may read it', async () => {
      const path = await freshPath();
      const keeper = createSealKeeper(path, notNeeded);
      await keeper.keyring();
      await chmod(path, 0o640);
      await assert.rejects(keeper.keyring(), refusal('invalid_argument', /has mode 0640/));
      await assert.rejects(keeper.rotate(), refusal('invalid_argument', /has mode 0640/));
    });

    test('a link to a key stays a link when the key is rotated', async () => {
      const [path, link] = [await freshPath(), await freshPath()];
      await createSealKeeper(path, notNeeded).keyring();
      await symlink(path, link);
      const ring = await createSealKeeper(link, notNeeded).rotate();
      assert.equal((await createSealKeeper(path, notNeeded).keyring()).activeId, ring.activeId);
      assert.deepEqual(await keysIn(link), await keysIn(path));
    });

    test(`holds ${SEAL_KEYS_MAX} keys and no more`, async () => {
      const path = await freshPath();
      let text = formatSealKey(Buffer.alloc(32, 1));
      for (let n = 2; n <= SEAL_KEYS_MAX; n += 1)
        text = appendSealKey(text, { key: Buffer.alloc(32, n), createdAt: n });
      await writeFile(path, text, { mode: 0o600 });
      assert.equal((await keysIn(path)).length, SEAL_KEYS_MAX);
      await assert.rejects(createSealKeeper(path, notNeeded).rotate(), refusal('conflict', /already holds 64 keys/));
      assert.equal(await readFile(path, 'utf8'), text);
      await writeFile(path, appendSealKey(text, { key: Buffer.alloc(32), createdAt: 1 }), { mode: 0o600 });
      assert.equal((await readSealKey(path)).ok, false);
    });
  });

  describe('a key file that is not as it was written', () => {
    const added = [1_795_000_000_000, 1_795_000_000_001].map((createdAt, n) => ({
      key: Buffer.alloc(32, n + 2),
      createdAt,
    }));
    const whole = added.reduce(appendSealKey, formatSealKey(Buffer.alloc(32, 1)));
    const [first = '', second = '', third = ''] = whole.split('\n');

    test('F09: torn anywhere it is refused, and never replaced', async () => {
      const path = await freshPath();
      // At the end of a line it is a whole file of fewer keys, which an atomic write never leaves.
      const ends = [`${first}\n`, `${first}\n${second}\n`].map((text) => text.length);
      for (let length = 0; length < whole.length; length += 1) {
        if (!ends.includes(length)) await assertTorn(path, whole.slice(0, length), `${length} bytes`);
      }
    });

    test(
      'F09: every single altered byte is noticed, and so are lines that are missing, moved, doubled or of another ' +
        'file',
      async () => {
        const path = await freshPath();
        const bytes = Buffer.from(whole);
        for (let at = 0; at < bytes.length; at += 1) {
          const altered = Buffer.from(bytes);
          altered[at]! ^= 1;
          await assertTorn(path, altered, `byte ${at}`);
        }
        const foreign = appendSealKey(formatSealKey(Buffer.alloc(32, 9)), {
          key: Buffer.alloc(32, 3),
          createdAt: 1,
        }).split('\n')[1];
        const orders = [
          [second],
          [second, third],
          [first, third],
          [first, third, second],
          [first, second, second],
          [first, first],
          [first, foreign],
          [first, second, third, ''],
        ];
        for (const lines of orders) await assertTorn(path, `${lines.join('\n')}\n`, lines.join('|'));
        await assertTorn(path, `${whole}${'#'.repeat(20_000)}`, 'long');
      },
    );
  });

  describe('rotations at once', () => {
    test('in one process lose no key', async () => {
      const path = await freshPath();
      await Promise.all(Array.from({ length: 10 }, () => createSealKeeper(path, notNeeded).rotate()));
      assert.equal(new Set(await keysIn(path)).size, 11);
      assert.deepEqual(await readdir(join(path, '..')), ['seal.key']);
    });

    test('in eight processes lose no key', async () => {
      const path = await freshPath();
      await createSealKeeper(path, notNeeded).keyring();
      const children = Array.from({ length: 8 }, () =>
        startOn(path, 'for (let n = 0; n < 3; n += 1) await createSealKeeper(path, () => false).rotate();'),
      );
      await Promise.all(children.map((child) => once(child.stdout, 'readable')));
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.stdin.end();
      assert.deepEqual(
        (await Promise.all(ended)).map(([code]) => code as number),
        Array.from({ length: 8 }, () => 0),
      );
      assert.equal(new Set(await keysIn(path)).size, 25);
      assert.deepEqual(await readdir(join(path, '..')), ['seal.key']);
    });

    test('F09: one that is killed while it holds the file leaves it whole, and the next one continues', async () => {
      const path = await freshPath();
      const keeper = createSealKeeper(path, notNeeded);
      const before = await keeper.keyring();
      const child = startOn(
        path,
        "await holdKeyFile(path); process.stdout.write('held'); setInterval(() => {}, 1000);",
      );
      child.stdin.end();
      for await (const chunk of child.stdout) if (String(chunk).endsWith('held')) break;
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.deepEqual((await readdir(join(path, '..'))).toSorted(), ['seal.key', 'seal.key.lock']);
      assert.equal((await keeper.keyring()).activeId, before.activeId);
      // Many that find the dead one's file at once take it away once.
      await Promise.all(Array.from({ length: 8 }, () => createSealKeeper(path, notNeeded).rotate()));
      assert.equal(new Set(await keysIn(path)).size, 9);
      assert.deepEqual(await readdir(join(path, '..')), ['seal.key']);
    });

    test('F09: killed at any moment of a rotation, the file is whole and has each key that ever sealed', async () => {
      const path = await freshPath();
      await createSealKeeper(path, notNeeded).keyring();
      const seen = new Set<string>();
      for (let round = 0; round < 8; round += 1) {
        const child = startOn(
          path,
          'for (let n = 0; n < 7; n += 1) process.stdout.write((await createSealKeeper(path, () => ' +
            "false).rotate()).activeId + '\\n');",
        );
        let printed = '';
        child.stdout.on('data', (chunk) => {
          printed += String(chunk);
          if (printed.split('\n').length > 1 + (round % 4)) child.kill('SIGKILL');
        });
        child.stdin.end();
        await once(child, 'exit');
        // What follows the last line end may be a part.
        for (const id of printed.replace('.', '').split('\n').slice(0, -1)) seen.add(id);
        const ring = await createSealKeeper(path, notNeeded).keyring();
        for (const id of seen) assert.ok(ring.has(id), `key ${id} is lost`);
      }
      assert.ok(seen.size >= 8, `${seen.size} rotations were seen`);
    });

    test('one that hangs makes the others give up after a while, saying which file it is', async () => {
      const path = await freshPath();
      const release = await holdKeyFile(path);
      await assert.rejects(holdKeyFile(path, 50), refusal('unavailable', /another rotation holds .*seal\.key\.lock/));
      await release();
      await (
        await holdKeyFile(path, 50)
      )();
    });

    test('the lock of another machine or process is left alone; one from before the last boot is not', async () => {
      const path = await freshPath();
      const nonce = 'ab'.repeat(8);
      const mine = { host: hostname(), bootId: 'of an earlier boot', pid: 1, nonce };
      for (const content of [
        '',
        'torn',
        '{}',
        JSON.stringify({ ...mine, host: 'elsewhere' }),
        JSON.stringify({ ...mine, nonce: '../x' }),
      ]) {
        await writeFile(`${path}.lock`, content);
        await assert.rejects(holdKeyFile(path, 30), refusal('unavailable', /remove that file/), content);
        assert.equal(await readFile(`${path}.lock`, 'utf8'), content);
      }
      await writeFile(`${path}.new`, JSON.stringify(mine));
      await rename(`${path}.new`, `${path}.lock`);
      await (
        await holdKeyFile(path, 50)
      )();
      assert.deepEqual(await readdir(join(path, '..')), []);
    });
  });
});
