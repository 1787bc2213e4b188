import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { CommandNotExecutable, CommandNotFound, SandboxRefused } from './errors.ts';
import type { Exit } from './children.ts';
import { until } from '../../../test/support/api-client.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
import { createLauncher, type LaunchRequest } from './launch.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4');
const F_SETFD = 2;
const launcher = createLauncher();

/** The processes that this one has started, or adopted. */
function children(): string {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
}

async function text(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += String(chunk);
  return all;
}

/** Runs a program to its end and to the end of its output. */
async function echo(request: LaunchRequest): Promise<void> {
  const launched = await launcher.launch(request);
  const closed = Promise.all([launched.stdout, launched.stderr].map((stream) => once(stream.resume(), 'close')));
  await Promise.all([launched.exited, closed]);
}

/** How a launch that must not succeed ended; `exit` is null where it was refused before anything was started. */
async function refused(request: LaunchRequest): Promise<{ error: unknown; exit: Exit | null }> {
  try {
    const launched = await launcher.launch(request);
    const exit = await launched.exited;
    return { error: await launched.started.catch((thrown: unknown) => thrown), exit };
  } catch (error) {
    return { error, exit: null };
  }
}

describe('the launcher', { skip: NO_SANDBOX }, () => {
  let dir: string;

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-launch-')));
  });
  after(() => rmSync(dir, { recursive: true }));

  const order = (argv: readonly string[], more: Partial<LaunchRequest> = {}): LaunchRequest => ({
    argv,
    env: { PATH: '/usr/bin:/bin', SVC_JOB_ID: 'job_1' },
    cwd: dir,
    policy: { readable: [], writable: [dir], connectPorts: [] },
    ...more,
  });

  it('starts no tool before what must be known of it is written down', async () => {
    const marker = join(dir, 'started');
    let seen: unknown;
    const launched = await launcher.launch(
      order(['touch', marker], {
        beforeStart: async ({ pid, startTicks }) => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          seen = { pid, startTicks, started: existsSync(marker) };
        },
      }),
    );
    await launched.exited;
    const { pid, startTicks } = launched;
    assert.deepEqual(seen, { pid, startTicks, started: false });
    assert.equal(existsSync(marker), true);
  });

  it('ends the process and starts nothing when that cannot be written down', async () => {
    const marker = join(dir, 'never');
    let pid = 0;
    const launch = launcher.launch(
      order(['touch', marker], {
        beforeStart: (leader) => {
          pid = leader.pid;
          throw new Error('lost');
        },
      }),
    );
    await assert.rejects(launch, /lost/);
    await until('the process is gone', () => !existsSync(`/proc/${pid}`));
    assert.equal(existsSync(marker), false);
  });

  it('names the tool by a pid and a start that stay when its process becomes it', async () => {
    const launched = await launcher.launch(order(['sleep', '60']));
    await launched.started;
    const stat = readFileSync(`/proc/${launched.pid}/stat`, 'utf8');
    assert.match(stat, /\(sleep\)/);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    assert.equal(Number(fields[19]), launched.startTicks);
    assert.deepEqual(
      [fields[2], fields[3]],
      [String(launched.pid), String(launched.pid)],
      'leads its group and session',
    );
    process.kill(launched.pid, 'SIGKILL');
    assert.deepEqual(await launched.exited, { exitCode: null, signal: 'SIGKILL' });
  });

  it('tells a command that is not there from one that cannot be executed', async () => {
    writeFileSync(join(dir, 'plain'), 'no program', { mode: 0o644 });
    writeFileSync(join(dir, 'broken'), 'no program', { mode: 0o755 });
    writeFileSync(join(dir, 'orphan'), '#!/no/such/interpreter\n', { mode: 0o755 });
    const orElse = 'or the interpreter in its first line was not found';
    for (const [command, why] of [
      ['no-such-command', 'the command no-such-command was not found'],
      [join(dir, 'absent'), `the command ${join(dir, 'absent')} ${orElse}`],
      [join(dir, 'orphan'), `the command ${join(dir, 'orphan')} ${orElse}`],
      ['', 'the command is empty'],
    ] as const)
      assert.deepEqual(await refused(order([command])), {
        error: new CommandNotFound(`The tool never started: ${why}.`),
        exit: command === '' ? null : { exitCode: 127, signal: null },
      });
    for (const argv of [[join(dir, 'plain')], [join(dir, 'broken')], [dir]]) {
      const { error, exit } = await refused(order(argv));
      assert.ok(error instanceof CommandNotExecutable, String(error));
      assert.equal(exit?.exitCode, 126);
    }
    assert.match(String((await refused(order([join(dir, 'broken')]))).error), /names no interpreter/);
    // The name of a file without the right, found in a folder of PATH: a closed folder would answer the same.
    const { error } = await refused(order(['plain'], { env: { PATH: `${dir}:/usr/bin` } }));
    assert.match(
      String(error),
      /the command plain may not be executed, or was not found, as a folder of PATH may not /,
    );
    assert.ok((await refused(order(['no-such'], { policy: null }))).error instanceof CommandNotFound);
  });

  it('T34: starts nothing when a path of the policy is missing or a link', async () => {
    const marker = join(dir, 'bare');
    writeFileSync(join(dir, 'link-target'), '');
    execFileSync('ln', ['-s', join(dir, 'link-target'), join(dir, 'link')]);
    for (const policy of [
      { readable: ['/no/such/path'], writable: [dir], connectPorts: [] },
      { readable: [], writable: [join(dir, 'absent')], connectPorts: [] },
      { readable: [join(dir, 'link')], writable: [dir], connectPorts: [] },
      { readable: [], writable: [dir], connectPorts: [70_000] },
    ]) {
      const { error } = await refused(order(['touch', marker], { policy }));
      assert.ok(error instanceof SandboxRefused, String(error));
    }
    assert.ok((await refused(order(['touch', marker], { cwd: join(dir, 'absent') }))).error instanceof SandboxRefused);
    assert.ok((await refused(order(['touch', marker, 'a\0b']))).error instanceof SandboxRefused);
    assert.equal(existsSync(marker), false);
  });

  it('refuses an order for which there is no room, before a process is started', async () => {
    const before = children();
    const long = { ...order(['echo', 'x'.repeat(1024 * 1024)]) };
    await assert.rejects(launcher.launch(long), /the order is longer than 1048576 bytes/);
    const ports = Array.from({ length: 1_000 }, (_, n) => n + 1);
    const many = order(['true'], { policy: { readable: [], writable: [dir], connectPorts: ports } });
    await assert.rejects(launcher.launch(many), /the order needs more than 1024 system calls/);
    assert.deepEqual(children(), before);
    const { exitCode } = await (await launcher.launch(order(['true', 'x'.repeat(100_000)]))).exited;
    assert.equal(exitCode, 0);
  });

  it('gives a tool no descriptor that somebody left open for it', async () => {
    const fd = openSync('/etc/hostname', 'r');
    const system = openSystemCalls();
    system.call(system.numbers.made.fcntl, fd, F_SETFD, 0);
    try {
      const launched = await launcher.launch(order(['ls', '/proc/self/fd'], { policy: null }));
      assert.deepEqual((await text(launched.stdout)).trim().split('\n'), ['0', '1', '2', '3']);
    } finally {
      closeSync(fd);
    }
  });

  it('gives a tool that reports one more pipe, in the sandbox and without it, and no other tool', async () => {
    const [writer, lister] = [
      ['sh', '-c', 'ls /proc/self/fd; echo seen >&9'],
      ['ls', '/proc/self/fd'],
    ];
    for (const policy of [null, order([]).policy]) {
      const launched = await launcher.launch(order(writer, { policy, reports: true }));
      const [printed, reported] = await Promise.all([text(launched.stdout), text(launched.report ?? assert.fail())]);
      assert.deepEqual(printed.trim().split('\n'), ['0', '1', '2', '3', '9']);
      assert.equal(reported, 'seen\n');
      const other = await launcher.launch(order(lister, { policy }));
      assert.equal(other.report, null);
      assert.deepEqual((await text(other.stdout)).trim().split('\n'), ['0', '1', '2', '3']);
    }
  });

  it('starts another process for a tool that reports where one without that pipe waits', async () => {
    const child = launcher.prepare() ?? assert.fail();
    const launched = await launcher.launch(order(['sh', '-c', 'echo seen >&9'], { child, reports: true }));
    assert.notEqual(launched.pid, child.pid);
    assert.equal(await text(launched.report ?? assert.fail()), 'seen\n');
    await until('the one that waited is gone', () => !existsSync(`/proc/${child.pid}`));
  });

  it('keeps no descriptor of a job that has ended', async () => {
    await echo(order(['echo', 'hello']));
    const before = readdirSync('/proc/self/fd').length;
    for (let turn = 0; turn < 4; turn++) await Promise.all([1, 2, 3].map(() => echo(order(['echo', 'hello']))));
    await until('the descriptors are given back', () => readdirSync('/proc/self/fd').length <= before);
  });
});
