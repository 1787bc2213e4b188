/** The digest of a checkout and of a package: what belongs to the program, and what must not be started. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { needs } from '../../../test/support/tools.ts';
import type { ProgramFiles } from '../../domain/program.ts';
import { systemClock } from '../../lib/clock.ts';
import { digestOf } from './digest.ts';

interface Installed {
  readonly program: ProgramFiles;
  readonly write: (path: string, text: string) => void;
  readonly digest: () => Promise<string>;
}

const uses = (name: string): string => JSON.stringify({ dependencies: { [name]: '1.0.0' } });

function installed(t: TestContext, main: 'src/main.ts' | 'dist/main.js'): Installed {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-digest-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const root = join(home, 'program');
  const write = (path: string, text: string): void => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, text, { mode: 0o644 });
  };
  write('node', 'a Node');
  write('program/package.json', uses('a'));
  write('program/bin/svc', '');
  write('program/migrations/sqlite/0001.sql', '');
  write(`program/${main}`, 'start');
  write('program/node_modules/a/package.json', uses('b'));
  write('program/node_modules/a/index.js', '');
  write('program/node_modules/b/package.json', '{}');
  write('program/node_modules/b/index.js', '');
  write('program/node_modules/not-used/package.json', '{}');
  const uid = process.geteuid?.() ?? 0;
  const program = { root, main: join(root, main), executable: join(home, 'node'), uid };
  return { program, write, digest: () => digestOf(program) };
}

/** Files with other contents, one at a time. */
async function changedBy({ write, digest }: Installed, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const before = await digest();
    write(path, 'another');
    if ((await digest()) !== before) found.push(path);
  }
  return found;
}

const ALWAYS = ['node', 'program/bin/svc', 'program/migrations/sqlite/0001.sql', 'program/migrations/sqlite/0002.sql'];
const NEVER = ['program/docs/a.md', 'program/node_modules/not-used/index.js'];

/** By all reads of this process so far. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

describe('The digest of a program', () => {
  test('of a checkout has its code, the packages that it needs, and its Node; no test and no document', async (t) => {
    const checkout = installed(t, 'src/main.ts');
    const own = [...ALWAYS, 'program/src/main.ts', 'program/src/new.ts', 'program/node_modules/b/index.js'];
    assert.deepEqual(await changedBy(checkout, [...own, ...NEVER, 'program/src/a.test.ts']), own);
  });

  test('of a package has its bundle and its Node, and no package beside it', async (t) => {
    const bundle = installed(t, 'dist/main.js');
    const own = [...ALWAYS, 'program/dist/main.js', 'program/dist/chunk.mjs'];
    assert.deepEqual(await changedBy(bundle, [...own, ...NEVER, 'program/node_modules/b/index.js']), own);
  });

  test(
    'reads again only what has other times, another size or another place than when it was read',
    { skip: needs('Linux') },
    async (t) => {
      const { program, write, digest } = installed(t, 'dist/main.js');
      const size = 64 * 1024 * 1024;
      const later = { ...systemClock, now: () => systemClock.now() + 60_000 };
      const readBy = async (work: () => Promise<string>): Promise<readonly [string, boolean]> => {
        const before = bytesRead();
        return [await work(), bytesRead() - before >= size];
      };
      const old = new Date(1_000_000);
      truncateSync(program.executable, size);
      utimesSync(program.executable, old, old);
      const first = await digest();
      // It was changed just before: a second change could have the same times.
      assert.deepEqual(await readBy(digest), [first, true]);
      const settled = (): Promise<string> => digestOf(program, undefined, later);
      assert.deepEqual(await readBy(settled), [first, true]);
      assert.deepEqual(await readBy(settled), [first, false]);
      write('node', 'b Node');
      truncateSync(program.executable, size);
      utimesSync(program.executable, old, old);
      const [second, wasRead] = await readBy(settled);
      assert.deepEqual([second === first, wasRead], [false, true]);
    },
  );

  test('T33: is refused where others may write a file or a folder above it, or where it cannot be read', async (t) => {
    const { program, digest } = installed(t, 'dist/main.js');
    for (const [path, mode] of [
      [program.main, 0o666],
      [dirname(program.main), 0o775],
      [program.root, 0o777],
      [join(program.root, 'migrations'), 0o775],
      [program.executable, 0o664],
    ] as const) {
      chmodSync(path, mode);
      await assert.rejects(digest(), { code: 'conflict', message: /can be written by its group or by everyone/ }, path);
      chmodSync(path, 0o755);
    }
    await digest();
    rmSync(program.main);
    await assert.rejects(digest(), { code: 'conflict', message: /cannot be read: ENOENT .*main\.js/ });
  });

  test('follows a link to a folder of packages: others may write what it leads to, or not', async (t) => {
    const { program, write, digest } = installed(t, 'src/main.ts');
    const packages = join(program.root, 'node_modules');
    const elsewhere = join(dirname(program.root), 'packages');
    renameSync(packages, elsewhere);
    symlinkSync(elsewhere, packages);
    const before = await digest();
    write('packages/b/index.js', 'another');
    assert.notEqual(await digest(), before);
    chmodSync(elsewhere, 0o775);
    await assert.rejects(digest(), { code: 'conflict', message: /packages can be written by its group/ });
  });
});
