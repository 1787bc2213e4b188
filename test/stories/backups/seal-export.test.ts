/** The key that backups need, written elsewhere by its operator. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import * as app from '../../../src/app.ts';
import { type Given, type Ran, svc } from '../../support/terminal.ts';

interface Home {
  readonly dir: string;
  readonly dataDir: string;
  run(argv: readonly string[], given?: Given): Promise<Ran>;
}

async function home(t: TestContext): Promise<Home> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-export-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const dataDir = join(dir, 'data');
  const run: Home['run'] = (argv, given = {}) => svc([...argv, '--data-dir', dataDir], { app, ...given });
  assert.equal((await run(['seal', 'init'])).exitCode, 0);
  return { dir, dataDir, run };
}

async function exportsOf(on: Home): Promise<number> {
  const { stdout } = await on.run(['audit', 'list', '--operation', 'seal.export', '--output', 'json']);
  return (JSON.parse(stdout) as { data: unknown[] }).data.length;
}

describe('svc seal export', () => {
  test('prints the key file alone on standard output, and leaves an audit row', async (t) => {
    const on = await home(t);
    const { exitCode, stdout, stderr } = await on.run(['seal', 'export', '--yes']);
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, readFileSync(join(on.dataDir, 'seal.key'), 'utf8'));
    assert.match(stderr, /Keep it apart from the backups/);
    assert.equal(await exportsOf(on), 1);
  });

  test('writes a new file that only its owner may read, and replaces none', async (t) => {
    const on = await home(t);
    const file = join(on.dir, 'exported.key');
    const made = await on.run(['seal', 'export', file, '--yes', '--output', 'json']);
    assert.equal(made.exitCode, 0, made.stdout);
    assert.equal(readFileSync(file, 'utf8'), readFileSync(join(on.dataDir, 'seal.key'), 'utf8'));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const key = readFileSync(file, 'utf8').split(' ')[1] ?? '';
    assert.equal(`${made.stdout}${made.stderr}`.includes(key), false, 'the key is in the file only');
    writeFileSync(file, 'mine');
    const again = await on.run(['seal', 'export', file, '--yes']);
    assert.equal(again.exitCode, 5);
    assert.match(again.stderr, /exists already, and an export replaces nothing/);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    assert.equal(await exportsOf(on), 1, 'a refused export has no row');
    const lost = await on.run(['seal', 'export', join(on.dir, 'none', 'exported.key'), '--yes']);
    assert.equal(lost.exitCode, 1);
    assert.match(lost.stderr, /exported\.key cannot be made: its directory does not exist\.\n/);
  });

  test('asks at a terminal, and without one needs --yes', async (t) => {
    const on = await home(t);
    const file = join(on.dir, 'exported.key');
    const silent = await on.run(['seal', 'export', file, '--no-input']);
    assert.equal(silent.exitCode, 1);
    assert.match(silent.stderr, /needs a confirmation; use --yes/);
    const no = await on.run(['seal', 'export', file], { typed: 'n\n' });
    assert.match(no.stderr, /opens every secret, state, plan and backup\. Write it out\? \[y\/N\]/);
    assert.equal(existsSync(file), false);
    assert.equal(await exportsOf(on), 0);
    assert.equal((await on.run(['seal', 'export', file], { typed: 'y\n' })).exitCode, 0);
    assert.equal(existsSync(file), true);
  });

  test('is refused over the network, before it connects', async (t) => {
    const on = await home(t);
    const { exitCode, stderr } = await on.run(['seal', 'export', '--yes', '--remote', 'http://127.0.0.1:9']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /never leaves it over the network/);
  });
});
