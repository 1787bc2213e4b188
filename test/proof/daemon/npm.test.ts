/** The daemon below the real npm, as `npx svc serve` and `npm start` run it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { needs } from '../../support/tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const READY = /is ready on .*, pid (\d+)\)/;

interface Started {
  readonly npm: ChildProcess;
  readonly daemon: number;
}

/** In a session without a terminal, so that a signal can be sent to the whole group as a closed terminal sends it. */
async function start(t: TestContext, [program, ...args]: readonly [string, ...string[]]): Promise<Started> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-npm-'));
  chmodSync(dir, 0o711);
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    SVC_DATA_DIR: join(dir, 'data'),
    SVC_SEAL_KEY_FILE: join(dir, 'seal.key'),
    SVC_RUNS_DIR: join(dir, 'runs'),
    SVC_WEB_ADDR: '127.0.0.1:0',
    SVC_INGRESS_ADDR: '127.0.0.1:0',
  };
  const npm = spawn(program, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  npm.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let daemon = 0;
  t.after(async () => {
    if (daemon !== 0 && isRunning(daemon)) process.kill(daemon, 'SIGTERM');
    await until('the daemon has ended', () => daemon === 0 || !isRunning(daemon));
    rmSync(dir, { recursive: true, force: true });
  });
  daemon = Number(await until('the daemon is ready', () => READY.exec(output)?.[1], 120_000));
  return { npm, daemon };
}

function parentOf(pid: number): string | undefined {
  return /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

for (const words of [
  ['npx', '--no-install', 'svc', 'serve'],
  ['npm', 'exec', '--offline', '--', 'svc', 'serve'],
  ['npm', 'start'],
] as const)
  test(`SIGTERM to ${words.join(' ')} ends the daemon too`, { skip: needs('npm') }, async (t) => {
    const { npm, daemon } = await start(t, words);
    npm.kill('SIGTERM');
    await once(npm, 'exit');
    await until('the daemon has ended', () => !isRunning(daemon));
    assert.equal(isRunning(daemon), false);
  });

test('a daemon below npm outlives its terminal, and then ends with SIGTERM', { skip: needs('npm') }, async (t) => {
  const { npm, daemon } = await start(t, ['npm', 'start']);
  const shell = parentOf(daemon);
  process.kill(-(npm.pid ?? 0), 'SIGHUP');
  await until('the shell of npm has ended', () => parentOf(daemon) !== shell);
  // Nothing tells that the daemon has looked at its parent and continues: three of its looks are waited for.
  const looked = Date.now() + 3_000;
  await until('the daemon has looked', () => Date.now() > looked);
  assert.ok(isRunning(daemon));
  process.kill(daemon, 'SIGTERM');
  await until('the daemon has ended', () => !isRunning(daemon));
});
