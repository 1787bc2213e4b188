import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { CALL_NUMBERS } from '../sandbox/kernel/call-numbers.ts';
import { SandboxRefused } from './errors.ts';
import { createLauncher, type Launcher, type LaunchRequest } from './launch.ts';
import { needs } from '../../../test/support/tools.ts';

const SKIP = needs('Linux', 'root', 'Landlock ABI 4');
/** No account of the machine has to have this number. */
const ACCOUNT = { uid: 64_123, gid: 64_124 };
const NUMBERS = CALL_NUMBERS[process.arch];
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', SVC_JOB_ID: 'job_1' };

/** Of this process. False where it may not raise its limits: that needs CAP_SYS_RESOURCE. */
function limitPriority(value: number): boolean {
  const limits = [`--rtprio=${value}:${value}`, `--nice=${value}:${value}`];
  return spawnSync('prlimit', ['--pid', `${process.pid}`, ...limits]).status === 0;
}

async function text(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += String(chunk);
  return all;
}

describe('a job of a daemon that is root', { skip: SKIP }, () => {
  let dir: string;
  let runDir: string;
  let launcher: Launcher;
  let server: Server;

  before(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-account-')));
    chmodSync(dir, 0o711);
    runDir = join(dir, 'job_1');
    mkdirSync(runDir, { mode: 0o700 });
    chownSync(runDir, ACCOUNT.uid, ACCOUNT.gid);
    launcher = createLauncher();
    server = createServer((socket) => socket.end('reached')).listen(join(dir, 'service.sock'));
    await once(server, 'listening');
    chmodSync(join(dir, 'service.sock'), 0o777);
  });
  after(async () => {
    server.close();
    rmSync(dir, { recursive: true });
  });

  async function run(
    argv: readonly string[],
    more: Partial<LaunchRequest> = {},
  ): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
    const policy = { readable: [], writable: [runDir], connectPorts: [] };
    const launched = await launcher.launch({ argv, env: ENV, cwd: runDir, policy, account: ACCOUNT, ...more });
    const [stdout, stderr, end] = await Promise.all([text(launched.stdout), text(launched.stderr), launched.exited]);
    await launched.started;
    return { exitCode: end.exitCode, stdout, stderr };
  }
  const perl = (script: string, more: Partial<LaunchRequest> = {}): ReturnType<typeof run> =>
    run(['perl', '-e', script], more);

  it('T66: is another account in every id, without groups, and owns what it makes', async () => {
    const ran = await run([
      'sh',
      '-c',
      'grep -E "^(Uid|Gid|Groups|Cap...|NoNewPrivs)" /proc/self/status; echo x > made; echo y > /dev/stderr',
    ]);
    assert.match(
      ran.stdout,
      new RegExp(
        String.raw`^Uid:(\t64123){4}\nGid:(\t64124){4}\nGroups:[ \t]*\n` +
          String.raw`CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+\nNoNewPrivs:\t1\n$`,
      ),
    );
    assert.equal(ran.stderr, 'y\n');
    assert.equal(statSync(join(runDir, 'made')).uid, ACCOUNT.uid);
  });

  it('T66: sets no set-user-ID and no set-group-ID bit, by any call, also as root', async () => {
    const script =
      'cp /bin/true tool; for m in u+s g+s 6755; do chmod $m tool; done; mkdir -m 2755 dir; ' +
      'install -m 4755 tool copy; ls -l tool | cut -c1-10';
    const ofRoot = join(dir, 'job_2');
    mkdirSync(ofRoot, { mode: 0o700 });
    for (const [cwd, account] of [
      [runDir, ACCOUNT],
      [ofRoot, null],
    ] as const) {
      const ran = await run(['sh', '-c', script], {
        account,
        cwd,
        policy: { readable: [], writable: [cwd], connectPorts: [] },
      });
      assert.equal(ran.stdout, '-rwxr-xr-x\n', ran.stderr);
      assert.equal(ran.stderr.match(/Operation not permitted/g)?.length, 5, ran.stderr);
      for (const name of ['tool', 'dir', 'copy']) {
        if (existsSync(join(cwd, name))) assert.equal(statSync(join(cwd, name)).mode & 0o6000, 0);
      }
    }
  });

  it(
    'T66: reads nothing of root and signals none of its processes, also where nothing but the ' +
      'account holds it back',
    async () => {
      const ran = await run(
        [
          'sh',
          '-c',
          `id -u; cat /etc/shadow; kill -0 ${process.pid}; cat /proc/${process.pid}/environ; touch ${dir}/x`,
        ],
        { policy: null },
      );
      assert.equal(ran.stdout, '64123\n');
      assert.equal(ran.stderr.match(/not permitted|denied|No such process/gi)?.length, 4, ran.stderr);
    },
  );

  it('T66: signals no process of root by making it the owner of a pipe', async () => {
    const target = spawn('sleep', ['60'], { stdio: 'ignore' });
    const exited = once(target, 'exit');
    // F_SETOWN, F_SETSIG with SIGKILL, O_ASYNC: the kernel sends it when the pipe can be read.
    const script =
      `pipe(R, W); fcntl(R, 8, ${target.pid}); fcntl(R, 10, 9); fcntl(R, 4, 0x2000); syswrite(W, "x"); ` +
      `print "written"`;
    try {
      for (const policy of [undefined, null])
        assert.equal((await perl(script, policy === null ? { policy } : {})).stdout, 'written');
      assert.match(readFileSync(`/proc/${target.pid}/stat`, 'latin1'), /\(sleep\) S /);
      // The same as root and without the sandbox ends it: the script does what it says.
      assert.equal((await perl(script, { policy: null, account: null })).stdout, 'written');
      assert.equal((await exited)[1], 'SIGKILL');
    } finally {
      target.kill('SIGKILL');
    }
  });

  it('does not start in a folder, or read a path, that its account may not reach', async () => {
    const closed = join(dir, 'closed');
    mkdirSync(join(closed, 'deep'), { recursive: true });
    chmodSync(closed, 0o700);
    await assert.rejects(run(['true'], { cwd: join(closed, 'deep') }), SandboxRefused);
    await assert.rejects(
      run(['true'], { policy: { readable: [join(closed, 'deep')], writable: [], connectPorts: [] } }),
      /account 64123 cannot reach .*closed\/deep/,
    );
  });

  it('T67: a job without unix sockets reaches no named socket of the machine; pairs and name lookup work', async () => {
    const connect =
      `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\\n"; connect($s, ` +
      `sockaddr_un("${dir}/service.sock")) or die "connect: $!\\n"; print <$s>;`;
    const refused = await perl(connect);
    assert.deepEqual([refused.stdout, refused.stderr], ['', 'socket: Operation not permitted\n']);
    const allowed = await perl(connect, {
      policy: { readable: [], writable: [runDir], connectPorts: [], unixSockets: true },
    });
    assert.equal(allowed.stdout, 'reached', allowed.stderr);
    const pair = await perl(
      'use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die $!; syswrite($a, ' +
        '"pair\\n"); print scalar <$b>;',
    );
    assert.equal(pair.stdout, 'pair\n', pair.stderr);
    const datagrams =
      'use Socket; for my $type (SOCK_DGRAM, SOCK_RAW) { socketpair(my $a, my $b, AF_UNIX, $type, ' +
      `0) or print("no pair: $!\n"), next; connect($a, sockaddr_un("${dir}/datagrams.sock")) and ` +
      `print "reached\n"; }`;
    assert.equal((await perl(datagrams)).stdout, 'no pair: Operation not permitted\n'.repeat(2));
    const names = await run(['getent', 'hosts', 'localhost']);
    assert.match(names.stdout, /localhost/);
    assert.equal((await run(['id', '-un', '0'])).stdout, 'root\n');
  });

  it(
    'T66: leaves nothing to other processes of the account outside of its folder: no shared ' +
      'memory, queue or semaphore',
    async () => {
      const { shmget, semget, msgget } = NUMBERS?.refused ?? {};
      const ran = await perl(
        `for ([${shmget}, 7, 4096, 0600 | 01000], [${semget}, 7, 1, 0600 | 01000], [${msgget}, 7, ` +
          `0600 | 01000]) { my ($number, @rest) = @$_; print syscall($number, @rest), " $!\n" }`,
      );
      assert.equal(ran.stdout, '-1 Operation not permitted\n'.repeat(3), ran.stderr);
    },
  );

  it('T68: makes no child of the daemon, which would never wait for it', async () => {
    const ran = await perl(
      `my $pid = syscall(${NUMBERS?.inspected.clone}, 0x8000 | 17, 0, 0, 0, 0); exit if $pid == 0; print "$pid $!\n"`,
    );
    assert.equal(ran.stdout, '-1 Operation not permitted\n', ran.stderr);
  });

  it('T68: changes the scheduling of itself and of nothing else, also of processes of the same account', async () => {
    const other = await launcher.launch({ argv: ['sleep', '300'], env: ENV, cwd: '/', policy: null, account: ACCOUNT });
    await other.started;
    const own =
      `renice -n 19 -p ${other.pid}; renice -n 19 -u 64123; taskset -pc 0 ${other.pid}; prlimit ` +
      `--pid ${other.pid} --nofile=1:1; chrt -b -p 0 ${other.pid}; ionice -c 3 -p ${other.pid}`;
    const ran = await run(['sh', '-c', own]);
    assert.equal(ran.stderr.match(/not permitted/g)?.length, 6, `${ran.stdout}${ran.stderr}`);
    const nicer = Math.min(getPriority() + 5, 19);
    assert.equal((await run(['nice', '-n', '5', 'nice'])).stdout, `${nicer}\n`);
    assert.equal((await run(['ionice', '-c', '3', 'taskset', '-c', '0', 'nproc'])).stdout, '1\n');
    process.kill(other.pid, 'SIGKILL');
    await other.exited;
  });

  it(
    'T68: does not get the right of the daemon to raise its priority',
    { skip: !limitPriority(5) && 'needs the right to raise limits' },
    async (t) => {
      t.after(() => limitPriority(0));
      limitPriority(5);
      const { stdout } = await run(['grep', '-E', '^Max (nice|realtime) priority', '/proc/self/limits']);
      assert.match(stdout, /^Max nice priority +0 +0 +\nMax realtime priority +0 +0 +\n$/);
    },
  );

  it('has no more memory than its limit', async () => {
    const ran = await perl('my $x = "x" x (300 << 20); print length $x', { limits: { addressSpaceBytes: 200 << 20 } });
    assert.deepEqual([ran.stdout, ran.exitCode === 0], ['', false], ran.stderr);
    assert.equal(
      (await run(['sh', '-c', 'ulimit -v'], { limits: { addressSpaceBytes: 200 << 20 } })).stdout,
      '204800\n',
    );
  });
});
