import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { CommandNotExecutable, CommandNotFound, SandboxRefused } from './errors.ts';
import { createLauncherPool, type LauncherPool, type LaunchRequest } from './pool.ts';
import type { Exit, Launched } from './launcher-process.ts';

const NO_LINUX = process.platform === 'linux' ? false : 'the sandbox needs Linux';
const isRoot = process.getuid?.() === 0;

/** The launchers that this process has waiting. */
function launchers(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  return pids.filter(
    (pid) => existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('launcher.ts'),
  );
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let look = 0; look < 3_000; look++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`never: ${what}`);
}

/** How a launch that must not succeed ended. */
async function refused(pool: LauncherPool, request: LaunchRequest): Promise<Exit & { error: unknown }> {
  const launched = await pool.launch(request);
  const error: unknown = await launched.started.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, ...(await launched.exited) };
}

describe('the launcher pool', { skip: NO_LINUX }, () => {
  let dir: string;
  let cache: string;

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-pool-')));
    cache = join(dir, 'cache');
  });
  after(() => rmSync(dir, { recursive: true }));

  const order = (argv: readonly string[], more: Partial<LaunchRequest> = {}): LaunchRequest => ({
    argv,
    env: { PATH: '/usr/bin:/bin', SVC_JOB_ID: 'job_1' },
    cwd: dir,
    policy: { readable: [], writable: [dir], connectPorts: [] },
    ...more,
  });

  async function withPool(
    options: Partial<Parameters<typeof createLauncherPool>[0]>,
    use: (pool: LauncherPool) => Promise<void>,
  ): Promise<void> {
    const pool = createLauncherPool({ clock: systemClock, compileCacheDir: cache, ...options });
    try {
      await use(pool);
    } finally {
      await pool.stop();
    }
  }

  it('keeps the asked number waiting, replaces one that was used, and lets go of what a burst added', async () => {
    let later: (() => void)[] = [];
    let shiftMs = 0;
    const clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + shiftMs,
      after: (ms: number, fire: () => void) => {
        if (ms < 4_000 || ms > 6_000) return systemClock.after(ms, fire);
        later.push(fire);
        return () => void (later = later.filter((each) => each !== fire));
      },
    };
    await withPool({ clock }, async (pool) => {
      await until('one waits', () => launchers().length === 1);
      const jobs = await Promise.all(Array.from({ length: 3 }, () => pool.launch(order(['true']))));
      await Promise.all(jobs.map((job) => job.exited));
      await until('two more wait after a burst', () => launchers().length === 3);
      shiftMs = 10_000;
      for (const fire of later) fire();
      await until('one waits again', () => launchers().length === 1);
      assert.equal((await pool.supported()).ok, true);
    });
    assert.deepEqual(launchers(), []);
  });

  it('starts no tool before what must be known of it is written down', async () => {
    await withPool({}, async (pool) => {
      const marker = join(dir, 'started');
      let seen: unknown;
      const launched = await pool.launch(
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
  });

  it('ends the launcher and starts nothing when that cannot be written down', async () => {
    await withPool({}, async (pool) => {
      const marker = join(dir, 'never');
      let pid = 0;
      const launch = pool.launch(
        order(['touch', marker], {
          beforeStart: (leader) => {
            pid = leader.pid;
            throw new Error('lost');
          },
        }),
      );
      await assert.rejects(launch, /lost/);
      await until('the launcher is gone', () => !existsSync(`/proc/${pid}`));
      assert.equal(existsSync(marker), false);
    });
  });

  it("names the tool by a pid and a start that stay when it takes the launcher's place", async () => {
    await withPool({}, async (pool) => {
      const launched = await pool.launch(order(['sleep', '60']));
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
  });

  it('tells a command that is not there from one that cannot be executed', async () => {
    writeFileSync(join(dir, 'plain'), 'no program', { mode: 0o644 });
    writeFileSync(join(dir, 'broken'), 'no program', { mode: 0o755 });
    await withPool({}, async (pool) => {
      for (const argv of [['no-such-command'], [join(dir, 'absent')], ['']]) {
        assert.deepEqual(await refused(pool, order(argv)), {
          error: new CommandNotFound(
            `The tool never started: the command ${argv[0] === '' ? 'is empty' : `${argv[0]} was not found`}.`,
          ),
          exitCode: 127,
          signal: null,
        });
      }
      for (const argv of [[join(dir, 'plain')], [join(dir, 'broken')], [dir]]) {
        const { error, exitCode } = await refused(pool, order(argv));
        assert.ok(error instanceof CommandNotExecutable, String(error));
        assert.equal(exitCode, 126);
      }
      assert.ok((await refused(pool, order(['no-such'], { policy: null }))).error instanceof CommandNotFound);
    });
  });

  it('T34: starts nothing when a path of the policy is missing or a link', async () => {
    const marker = join(dir, 'bare');
    writeFileSync(join(dir, 'link-target'), '');
    execFileSync('ln', ['-s', join(dir, 'link-target'), join(dir, 'link')]);
    await withPool({}, async (pool) => {
      for (const policy of [
        { readable: ['/no/such/path'], writable: [dir], connectPorts: [] },
        { readable: [], writable: [join(dir, 'absent')], connectPorts: [] },
        { readable: [join(dir, 'link')], writable: [dir], connectPorts: [] },
        { readable: [], writable: [dir], connectPorts: [70_000] },
      ]) {
        const { error, exitCode } = await refused(pool, order(['touch', marker], { policy }));
        assert.ok(error instanceof SandboxRefused, String(error));
        assert.equal(exitCode, 126);
      }
      assert.ok(
        (await refused(pool, order(['touch', marker], { cwd: join(dir, 'absent') }))).error instanceof SandboxRefused,
      );
      assert.ok((await refused(pool, order(['touch', marker, 'a\0b']))).error instanceof SandboxRefused);
    });
    assert.equal(existsSync(marker), false);
  });

  it('T34: starts nothing when the launcher fails, hangs up, or is not there', async () => {
    const marker = join(dir, 'bare');
    const programs = {
      'absent.ts': null,
      'fails.mjs': 'process.exit(3)',
      'lies.mjs': `import fs from 'node:fs'; fs.writeSync(3, 'nonsense\\n'); setInterval(() => {}, 1000);`,
      'leaves.mjs':
        `import fs from 'node:fs'; fs.writeSync(3, JSON.stringify({ ready: true, abi: 7, problem: null, ` +
        `startTicks: 1, output: null }) + '\\n'); fs.readSync(3, Buffer.alloc(10)); process.exit(0);`,
      'refuses.mjs':
        `import fs from 'node:fs'; fs.writeSync(3, JSON.stringify({ error: 'broken', problem: 'refused' }) + ` +
        `'\\n');`,
    };
    for (const [name, source] of Object.entries(programs)) {
      if (source !== null) writeFileSync(join(dir, name), source);
      const problems: Error[] = [];
      await withPool({ program: join(dir, name), onProblem: (error) => problems.push(error) }, async (pool) => {
        const failure: unknown = await pool
          .launch(order(['touch', marker]))
          .then(({ started }) => started)
          .catch((error: unknown) => error);
        assert.ok(failure instanceof SandboxRefused, `${name}: ${String(failure)}`);
        if (name !== 'leaves.mjs') assert.equal((await pool.supported()).ok, false, name);
      });
    }
    assert.equal(existsSync(marker), false);
  });

  it(
    'T34: starts nothing when the launcher may not be read',
    { skip: isRoot ? 'root reads everything' : false },
    async () => {
      const program = join(dir, 'forbidden.ts');
      writeFileSync(program, '', { mode: 0o000 });
      await withPool({ program }, async (pool) => {
        await assert.rejects(pool.launch(order(['true'])), SandboxRefused);
      });
    },
  );

  it('refuses an order that is longer than a launcher takes', async () => {
    await withPool({}, async (pool) => {
      await assert.rejects(pool.launch(order(['echo', 'x'.repeat(1024 * 1024)])), SandboxRefused);
    });
  });

  it('bears being stopped twice, and starts nothing afterwards', async () => {
    const pool = createLauncherPool({ clock: systemClock, compileCacheDir: cache });
    await Promise.all([pool.stop(), pool.stop()]);
    await pool.stop();
    await assert.rejects(pool.launch(order(['true'])), SandboxRefused);
    assert.equal((await pool.supported()).ok, false);
    assert.deepEqual(launchers(), []);
  });

  it('leaves running tools alone when it is stopped', async () => {
    let launched: Launched | undefined;
    await withPool({}, async (pool) => {
      launched = await pool.launch(order(['sleep', '60']));
      await launched.started;
    });
    process.kill(launched!.pid, 0);
    process.kill(launched!.pid, 'SIGKILL');
    await launched!.exited;
  });

  it('keeps no descriptor of a job that has ended', async () => {
    await withPool({}, async (pool) => {
      const run = async (): Promise<void> => {
        const launched = await pool.launch(order(['echo', 'hello']));
        const closed = Promise.all([launched.stdout, launched.stderr].map((stream) => once(stream.resume(), 'close')));
        await Promise.all([launched.exited, closed]);
      };
      const settle = (): Promise<void> => until('one waits', () => launchers().length === 3);
      await Promise.all([run(), run(), run()]);
      await settle();
      const before = readdirSync('/proc/self/fd').length;
      for (let turn = 0; turn < 4; turn++) await Promise.all([run(), run(), run()]);
      await settle();
      await until('the descriptors are given back', () => readdirSync('/proc/self/fd').length <= before);
    });
  });

  it('keeps a waiting launcher below 45 MB, with a cold cache too', async () => {
    for (const temperature of ['cold', 'warm']) {
      await withPool({ compileCacheDir: join(dir, 'cache-of-memory-test') }, async (pool) => {
        await pool.supported();
        const [pid] = launchers();
        let residentKb = Infinity;
        await until(`${temperature}: ${residentKb} kB`, () => {
          residentKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
          return residentKb * 1024 <= 45_000_000;
        });
      });
    }
  });
});
