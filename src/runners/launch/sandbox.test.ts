import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { createLauncher, type Launcher, type LaunchRequest } from './launch.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4');

interface Ran {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function text(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += String(chunk);
  return all;
}

describe('a sandboxed job', { skip: NO_SANDBOX }, () => {
  let data: string;
  let runDir: string;
  let launcher: Launcher;
  let server: Server;
  let port: number;

  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'gatehouse-sandbox-'));
    chmodSync(data, 0o755);
    runDir = join(data, 'runs', 'job_1');
    mkdirSync(runDir, { recursive: true });
    writeFileSync(join(data, 'secret'), 'canary');
    launcher = createLauncher();
    server = createServer((socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  after(async () => {
    server.close();
    rmSync(data, { recursive: true });
  });

  const order = (argv: readonly string[], more: Partial<LaunchRequest> = {}): LaunchRequest => ({
    argv,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', SVC_JOB_ID: 'job_1' },
    cwd: runDir,
    policy: { readable: [], writable: [runDir], connectPorts: [22] },
    ...more,
  });

  async function run(argv: readonly string[], more: Partial<LaunchRequest> = {}): Promise<Ran> {
    const launched = await launcher.launch(order(argv, more));
    const [stdout, stderr, end] = await Promise.all([text(launched.stdout), text(launched.stderr), launched.exited]);
    await launched.started;
    return { ...end, stdout, stderr };
  }

  /** Runs a script of our own Node inside, for what needs exact system calls. The job gets that one file besides. */
  async function runNode(script: string, connectPorts: readonly number[] | 'any' = [22]): Promise<Ran> {
    const readable = [process.execPath];
    return run([process.execPath, '--no-warnings', '-e', script], {
      policy: { readable, writable: [runDir], connectPorts },
    });
  }

  it('writes in its run directory, and nowhere else', async () => {
    const ran = await run([
      'sh',
      '-c',
      `echo in > inside; echo out > ${data}/outside; echo out > ` +
        '/tmp/gatehouse-outside; ls -d /dev/shm/. > x; echo s > /dev/shm/gatehouse',
    ]);
    assert.equal(readFileSync(join(runDir, 'inside'), 'utf8'), 'in\n');
    assert.equal(existsSync(join(data, 'outside')), false);
    assert.equal(existsSync('/tmp/gatehouse-outside'), false);
    assert.equal(existsSync('/dev/shm/gatehouse'), false);
    assert.match(ran.stderr, /outside: Permission denied/);
  });

  it('does not read the data directory, nor what other users keep at home', async () => {
    const ran = await run(['sh', '-c', `cat ${data}/secret; ls ${data}; ls /root; ls /home; ls /tmp; ls ..`]);
    assert.equal(ran.stdout, '');
    assert.equal(ran.stderr.match(/Permission denied/g)?.length, 6, ran.stderr);
  });

  it('does not read what is named by a link in its own directory', async () => {
    symlinkSync(join(data, 'secret'), join(runDir, 'link'));
    const ran = await run(['sh', '-c', 'cat link; ln /etc/hostname hard; ln ../../secret hard2; mv ../../secret here']);
    assert.doesNotMatch(ran.stdout, /canary/);
    assert.notEqual(ran.exitCode, 0);
    assert.equal(existsSync(join(data, 'secret')), true);
  });

  it('connects to an allowed port and to no other', async () => {
    const connect =
      `require('net').connect(${port}, '127.0.0.1').on('data', (d) => ` +
      `console.log(String(d))).on('error', (e) => console.log(e.code))`;
    assert.equal((await runNode(connect, [22])).stdout, 'EACCES\n');
    assert.equal((await runNode(connect, [port])).stdout, 'hello\n');
    assert.equal((await runNode(connect, 'any')).stdout, 'hello\n');
  });

  it('binds no TCP port, whatever it may connect to', async () => {
    const bind = `require('net').createServer().on('error', (e) => console.log(e.code)).listen(0, '127.0.0.1')`;
    assert.equal((await runNode(bind, 'any')).stdout, 'EACCES\n');
  });

  it('sends and receives UDP', async () => {
    const echo = createSocket('udp4', (message, from) => echo.send(`${String(message)}!`, from.port, from.address));
    echo.bind(0, '127.0.0.1');
    await once(echo, 'listening');
    const ran = await runNode(
      `const s = require('dgram').createSocket('udp4', (m) => { ` +
        `console.log(String(m)); s.close(); }); s.send('hi', ` +
        `${echo.address().port}, '127.0.0.1')`,
    );
    echo.close();
    assert.equal(ran.stdout, 'hi!\n', ran.stderr);
  });

  it('T34: gets past the port policy neither by MPTCP, nor by MSG_FASTOPEN, raw sockets or io_uring', async () => {
    const x64 = process.arch === 'x64';
    const [socket, sendto, sendmsg, sendmmsg] = x64 ? [41, 44, 46, 307] : [198, 206, 211, 269];
    const ran = await runNode(`
      const ffi = require('node:ffi');
      const { functions: f } = ffi.dlopen(null, {
        syscall: { arguments: Array(7).fill('i64'), return: 'i64' },
        __errno_location: { arguments: [], return: 'u64' },
      });
      const at = f.__errno_location();
      const word = (x) => Buffer.isBuffer(x) ? ffi.getRawPointer(x) : BigInt(x);
      const call = (...a) => {
        const r = f.syscall(...a.concat(Array(7 - a.length).fill(0)).map(word));
        return r === -1n ? ffi.getInt32(at) : 0;
      };
      const to = Buffer.alloc(16); to.writeUInt16LE(2, 0); to.writeUInt16BE(${port}, 2); to.set([127, 0, 0, 1], 4);
      const fd = () => Number(f.syscall(${socket}n, 2n, 1n, 0n, 0n, 0n, 0n));
      const iov = Buffer.alloc(16); iov.writeBigUInt64LE(ffi.getRawPointer(to), 0); iov.writeBigUInt64LE(1n, 8);
      const msg = Buffer.alloc(64); msg.writeBigUInt64LE(ffi.getRawPointer(to), 0); msg.writeUInt32LE(16, 8);
      msg.writeBigUInt64LE(ffi.getRawPointer(iov), 16); msg.writeBigUInt64LE(1n, 24);
      console.log(JSON.stringify([
        call(${socket}, 2, 1, 262), call(${socket}, 10, 1, 262), call(${socket}, 2, 3, 255),
        call(${socket}, 2, 2, 1), call(${socket}, 17, 3, 0), call(${sendto}, fd(), to, 1, 0x20000000, to, 16),
        call(${sendmsg}, fd(), msg, 0x20000000), call(${sendmmsg}, fd(), msg, 1, 0x20000000),
        call(425, 8, Buffer.alloc(256)), call(434, process.pid, 0),
      ]));`);
    assert.deepEqual(
      JSON.parse(ran.stdout),
      Array.from({ length: 10 }, () => 1),
      ran.stderr,
    );
  });

  it('opens no namespace and traces no process', async () => {
    const ran = await run([
      'sh',
      '-c',
      'unshare -Ur true; unshare -n true; mount -t tmpfs none .; nsenter -t 1 -m true; echo done',
    ]);
    assert.equal(ran.stdout, 'done\n');
    assert.ok((ran.stderr.match(/not permitted|denied|must be superuser/gi)?.length ?? 0) >= 4, ran.stderr);
  });

  it('has no capability and gains none', async () => {
    const { stdout } = await run(['grep', '-E', '^(Cap|NoNewPrivs|Seccomp:|SigIgn|SigBlk)', '/proc/self/status']);
    const fields = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/:\s+/) as [string, string]),
    );
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb', ...(process.getuid?.() === 0 ? ['CapBnd'] : [])]) {
      assert.equal(fields[set], '0000000000000000', set);
    }
    assert.equal(fields['NoNewPrivs'], '1');
    assert.equal(fields['Seccomp'], '2');
    assert.equal(fields['SigIgn'], '0000000000000000');
    assert.equal(fields['SigBlk'], '0000000000000000');
  });

  it('neither reads the environment and memory of the daemon nor signals it', async () => {
    const pid = process.pid;
    const ran = await run([
      'sh',
      '-c',
      `cat /proc/${pid}/environ; head -c1 /proc/${pid}/maps; readlink ` +
        `/proc/${pid}/fd/0 || echo no link >&2; kill -0 ${pid}; kill -9 ${pid}; ` +
        'echo done',
    ]);
    assert.equal(ran.stdout, 'done\n');
    assert.equal(
      ran.stderr.match(/Permission denied|no link|Operation not permitted|No such process/g)?.length,
      5,
      ran.stderr,
    );
  });

  it('T33: does not write to the installation of the daemon', async () => {
    const target = join(import.meta.dirname, 'launch.ts');
    const ran = await run(['sh', '-c', `echo x >> ${target}; cp /bin/true ${process.execPath}; rm ${target}`]);
    assert.notEqual(ran.exitCode, 0);
    assert.equal(ran.stderr.match(/Permission denied|cannot/g)?.length !== 0, true);
    assert.equal(existsSync(target), true);
  });

  it('gets the three standard descriptors and no other of the daemon', async () => {
    const { stdout } = await run(['ls', '-l', '/proc/self/fd']);
    const held = stdout.split('\n').filter((line) => line.includes(' -> ') && !/ -> \/proc\/\d+\/fd$/.test(line));
    assert.equal(held.length, 3, stdout);
    assert.match(held[0]!, /0 -> \/dev\/null$/);
    assert.match(held[1]!, /1 -> pipe:/);
    assert.match(held[2]!, /2 -> pipe:/);
  });

  it('opens its standard output and error by name', async () => {
    const ran = await run(['sh', '-c', 'echo one > /dev/stdout; echo two > /dev/stderr']);
    assert.deepEqual([ran.stdout, ran.stderr], ['one\n', 'two\n']);
  });

  it('resolves names by the files of the system, and uses the devices of the table', async () => {
    const ran = await run([
      'sh',
      '-c',
      'getent hosts localhost > /dev/null && head -c4 /dev/urandom | wc -c && : > /dev/null',
    ]);
    assert.equal(ran.exitCode, 0, ran.stderr);
    assert.equal(ran.stdout.trim(), '4');
  });

  it('dies of a broken pipe as it would outside', async () => {
    assert.equal((await run(['sh', '-c', 'yes | head -n1'])).stdout, 'y\n');
  });

  it('T13: passes every argument as it is, whatever a shell would make of it', async () => {
    const hostile = [
      '$(touch pwned)',
      '`touch pwned`',
      '; touch pwned',
      '| touch pwned',
      '\n',
      '',
      '*',
      '~',
      '"',
      "'",
      '\\',
      '-n',
      '--',
      'é\u{1f600}',
      '\t',
      '&&',
      '>pwned',
      '\u0001',
    ];
    const { stdout } = await run(['printf', '%s\\0', ...hostile]);
    assert.deepEqual(stdout.split('\0').slice(0, -1), hostile);
    assert.equal(existsSync(join(runDir, 'pwned')), false);
  });

  it('reports the signal that ended it, and its exit code', async () => {
    assert.deepEqual((await run(['sh', '-c', 'kill -TERM $$'])).signal, 'SIGTERM');
    assert.equal((await run(['sh', '-c', 'exit 41'])).exitCode, 41);
  });

  it('is killed before the daemon when memory ends', async () => {
    // Set once it runs; what it starts from then on has it too.
    const script = 'until grep -qx 1000 /proc/$$/oom_score_adj; do :; done; cat /proc/self/oom_score_adj';
    const own = readFileSync('/proc/self/oom_score_adj', 'utf8');
    assert.equal((await run(['sh', '-c', script])).stdout, '1000\n');
    assert.equal(readFileSync('/proc/self/oom_score_adj', 'utf8'), own);
  });

  it('runs a privileged job with everything that the daemon may do', async () => {
    const ran = await run(
      ['sh', '-c', `cat ${data}/secret; grep -E '^(NoNewPrivs|Seccomp:)' /proc/self/status; ls /proc/self/fd | wc -l`],
      { policy: null },
    );
    const own = readFileSync('/proc/self/status', 'utf8').match(/^(?:NoNewPrivs|Seccomp):.*$/gm) ?? [];
    assert.equal(ran.stdout, `canary${own.join('\n')}\n4\n`, ran.stderr);
  });
});
