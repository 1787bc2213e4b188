/** The sandbox of kernels with an older Landlock. `npm run kernels` runs these tests on such a kernel. */
import assert from 'node:assert/strict';
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
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { launchersOfOlderKernel, needsOlderKernel } from '../../../test/support/kernels/older-kernel.ts';
import type { SandboxPolicy } from './policy.ts';
import { SandboxRefused } from '../launch/errors.ts';
import type { Launcher, LaunchRequest } from '../launch/launch.ts';

const ACCOUNT = { uid: 64_123, gid: 64_124 };
const X64 = process.arch === 'x64';
const [TRUNCATE, OPENAT, OPENAT2] = X64 ? [76, 257, 437] : [45, 56, 437];

async function text(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += String(chunk);
  return all;
}

for (const abi of [1, 2, 3]) {
  describe(`a job on a kernel with Landlock ABI ${abi}`, { skip: needsOlderKernel(abi) }, () => {
    let dir: string;
    let runDir: string;
    /** Readable for jobs and, by its mode, writable for their account. */
    let open: string;
    let launcher: Launcher;
    let permissive: Launcher;
    let server: Server;
    let port: number;
    let connections = 0;

    before(async () => {
      dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-older-')));
      chmodSync(dir, 0o755);
      runDir = join(dir, 'job_1');
      mkdirSync(runDir, { mode: 0o700 });
      chownSync(runDir, ACCOUNT.uid, ACCOUNT.gid);
      open = join(dir, 'open');
      mkdirSync(open);
      ({ launcher, permissive } = launchersOfOlderKernel(abi));
      server = createServer((socket) => {
        connections += 1;
        socket.end('hello');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    });
    after(() => {
      server.close();
      rmSync(dir, { recursive: true });
    });

    interface Ran {
      readonly exitCode: number | null;
      readonly stdout: string;
      readonly stderr: string;
      readonly notes: readonly string[];
    }

    async function run(
      argv: readonly string[],
      policy: Partial<SandboxPolicy> = {},
      more: Partial<LaunchRequest> = {},
      using = launcher,
    ): Promise<Ran> {
      const notes: string[] = [];
      const launched = await using.launch({
        argv,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', SVC_JOB_ID: 'job_1' },
        cwd: runDir,
        policy: { readable: [open], writable: [runDir], connectPorts: 'any', ...policy },
        account: ACCOUNT,
        say: (note) => notes.push(note),
        ...more,
      });
      const [stdout, stderr, end] = await Promise.all([text(launched.stdout), text(launched.stderr), launched.exited]);
      await launched.started;
      return { exitCode: end.exitCode, stdout, stderr, notes };
    }
    const perl = (script: string, policy: Partial<SandboxPolicy> = {}, using = launcher): Promise<Ran> =>
      run(['perl', '-e', script], policy, {}, using);
    const refusalOf = (policy: Partial<SandboxPolicy>, more: Partial<LaunchRequest> = {}): Promise<string> =>
      run(['touch', join(runDir, 'started')], policy, more).then(
        () => assert.fail('it was started'),
        (error: unknown) => (error instanceof SandboxRefused ? error.message : assert.fail(String(error))),
      );

    it('writes in its run directory, and neither reads nor writes elsewhere', async () => {
      writeFileSync(join(dir, 'secret'), 'canary');
      chmodSync(join(dir, 'secret'), 0o666);
      writeFileSync(join(open, 'given'), 'given');
      const ran = await run([
        'sh',
        '-c',
        `echo in > inside; cat inside ${open}/given; cat ${dir}/secret; echo out > ${dir}/secret; rm ${open}/given
         echo out > ${dir}/outside; ls /root; ls ${dir}; mknod device c 1 3; echo done`,
      ]);
      assert.equal(ran.stdout, 'in\ngivendone\n', ran.stderr);
      assert.equal(readFileSync(join(dir, 'secret'), 'utf8'), 'canary');
      assert.equal(existsSync(join(dir, 'outside')), false);
      assert.equal(existsSync(join(open, 'given')), true);
      assert.deepEqual(ran.notes, []);
    });

    it('T34: cuts no file short that it may not write, by whichever call', async () => {
      const files = ['read', 'hidden'].map((name) => (name === 'read' ? join(open, 'victim') : join(dir, 'victim')));
      for (const file of files) {
        writeFileSync(file, 'whole');
        chmodSync(file, 0o666);
      }
      // The last access mode opens for neither reading nor writing: such a file needs no right of an older Landlock.
      const attempts = files.map(
        (file) => `
        my $file = "${file}"; my $how = pack("QQQ", 01000, 0, 0);
        print "truncate\\n" if syscall(${TRUNCATE}, $file, 0) == 0;
        for my $flags (01000, 01001, 01002, 01003, 01100, 011000) {
          print "openat $flags\\n" if syscall(${OPENAT}, -100, $file, $flags, 0) >= 0;
        }
        print "openat2\\n" if syscall(${OPENAT2}, -100, $file, $how, 24) >= 0;
        ${X64 ? 'print "open\\n" if syscall(2, $file, 01003, 0) >= 0;' : ''}
        ${X64 ? 'print "creat\\n" if syscall(85, $file, 0644) >= 0;' : ''}
        open(my $in, "<", $file) and truncate($in, 0) and print "ftruncate\\n";`,
      );
      const ran = await perl(`${attempts.map((attempt) => `{${attempt}}`).join('\n')} print "done\\n"`);
      assert.equal(ran.stdout, 'done\n', ran.stderr);
      for (const file of files) assert.equal(readFileSync(file, 'utf8'), 'whole');
    });

    it('writes, cuts and replaces its own files as tools do', async () => {
      const ran = await run([
        'sh',
        '-c',
        `echo long > file && echo x > file && cat file && truncate -s 1 file && wc -c < file && cp file other
         mv other file && ln -s file link && mkdir sub && echo y >> sub/log && sed -i s/y/z/ sub/log && cat sub/log`,
      ]);
      assert.equal(ran.stdout, 'x\n1\nz\n', ran.stderr);
      assert.equal(ran.exitCode, 0, ran.stderr);
    });

    const how = abi === 1 ? 'by a copy, because the kernel refuses the rename' : 'by a rename';
    it(`moves a file to another folder ${how}`, async () => {
      const ran = await perl('mkdir "a"; mkdir "b"; open(F, ">a/f"); print rename("a/f", "b/f") ? "yes" : "$!"');
      assert.equal(ran.stdout, abi === 1 ? 'Invalid cross-device link' : 'yes');
      const moved = await run(['sh', '-c', 'mkdir c d && echo x > c/f && mv c/f d/f && cat d/f && ls c']);
      assert.deepEqual([moved.exitCode, moved.stdout], [0, 'x\n'], moved.stderr);
      // Out of the sandbox nothing is moved, nor into it.
      const out = await run(['sh', '-c', `echo x > g; mv g ${open}/g; mv ${open}/given here; ln ${open}/given hard`]);
      assert.notEqual(out.exitCode, 0);
      assert.deepEqual([existsSync(join(open, 'g')), existsSync(join(open, 'given'))], [false, true]);
    });

    it('has no internet socket where it was given no port on request, and hears so', async () => {
      const { notes, ...ran } = await perl(
        `use Socket; for my $family (AF_INET, AF_INET6) { for my $type (SOCK_STREAM, SOCK_DGRAM, SOCK_RAW) {
           socket(my $s, $family, $type, 0) and print "made\\n"; print "$!\\n"; } }
         print defined(gethostbyname("gatehouse.example")) ? "resolved" : "not resolved";`,
        { connectPorts: [port], unfiltered: 'offline' },
      );
      assert.equal(ran.stdout, `${'Address family not supported by protocol\n'.repeat(6)}not resolved`, ran.stderr);
      assert.equal(connections, 0);
      assert.deepEqual(notes.length, 1);
      assert.match(notes[0] ?? '', /no internet sockets/);
      const names = await run(['getent', 'hosts', 'localhost'], { connectPorts: [22], unfiltered: 'offline' });
      assert.match(names.stdout, /localhost/, 'the names of /etc/hosts are found');
    });

    it('T34: is refused where it needs a limit to ports, and reaches all if the operator allows that', async () => {
      assert.equal(
        await refusalOf({ connectPorts: [22] }),
        'The tool never started: this kernel cannot limit TCP to ports (Landlock ABI 4, Linux 6.7): start svc serve ' +
          'with --allow-unfiltered-egress to let programs reach every port instead.',
      );
      const connect = `use IO::Socket::INET; print IO::Socket::INET->new("127.0.0.1:${port}")->getlines`;
      const allowed = await perl(connect, { connectPorts: [22] }, permissive);
      assert.deepEqual([allowed.stdout, allowed.notes.length], ['hello', 1], allowed.stderr);
      assert.match(allowed.notes[0] ?? '', /reaches every port/);
      const asked = await perl(connect, { connectPorts: 'any' });
      assert.deepEqual([asked.stdout, asked.notes], ['hello', []], asked.stderr);
    });

    it('T34: is refused with the account of the service, and runs outside the sandbox', async () => {
      for (const connectPorts of ['any', 'none', [22]] as const)
        for (const account of [null, { uid: process.geteuid?.() ?? 0, gid: 0 }])
          assert.match(await refusalOf({ connectPorts, unfiltered: 'offline' }, { account }), /another account/);
      assert.equal(existsSync(join(runDir, 'started')), false);
      assert.equal((await run(['true'], {}, { account: null, policy: null })).exitCode, 0);
    });

    it('starts from a process that waited', async () => {
      const child = launcher.prepare();
      const ran = await run(['cat', join(open, 'given')], {}, { child });
      assert.equal(ran.stdout, 'given');
      const other = launcher.prepare();
      await refusalOf({ connectPorts: [22] }, { child: other });
      assert.equal(other?.isWaiting, false);
    });

    it('keeps what does not depend on Landlock: no capability, no unix socket, no set-ID bit', async () => {
      const ran = await run(['grep', '-E', '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp:)', '/proc/self/status']);
      assert.match(ran.stdout, /^(Cap\w+:\t0{16}\n){3}NoNewPrivs:\t1\nSeccomp:\t2\n$/);
      const { stdout } = await perl(
        `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) and print "unix";
         open(F, ">f"); chmod(06755, "f") and print "set";`,
      );
      assert.equal(stdout, '');
    });
  });
}

it('says what it needs on a kernel without Landlock, and starts nothing', { skip: needsOlderKernel(0) }, async () => {
  const { launcher } = launchersOfOlderKernel(0);
  const policy = { readable: [], writable: [], connectPorts: 'any' as const };
  await assert.rejects(
    launcher.launch({ argv: ['true'], env: {}, cwd: '/', policy, account: ACCOUNT }),
    /^SandboxRefused: The tool never started: sandboxed jobs need Landlock, /,
  );
  const support = await launcher.supported(() => Promise.resolve(true));
  assert.equal(support.state, 'none');
});
