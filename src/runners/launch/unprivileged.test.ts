import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { asService, CAPABILITIES, SERVICE_ID } from '../../../test/support/accounts/capable-daemon.ts';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_LINUX = needs('Linux');

describe('a sandboxed job of a daemon that is not root', { skip: NO_LINUX }, () => {
  let dir: string;

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-unprivileged-')));
  });
  after(() => rmSync(dir, { recursive: true }));

  it(
    'runs as the user that the daemon is, whose files stay closed to the job',
    { skip: needs('root', 'Landlock ABI 4') },
    () => {
      const own = join(dir, 'own');
      mkdirSync(own);
      chmodSync(dir, 0o755);
      execFileSync('chown', ['nobody', own]);
      const script = `
      import { createLauncher } from ${JSON.stringify(join(import.meta.dirname, 'launch.ts'))};
      import { writeFileSync, mkdirSync } from 'node:fs';
      writeFileSync('${own}/secret', 'canary'); mkdirSync('${own}/run');
      const launcher = createLauncher();
      const reach = 'id -un; cat ../secret; cat /proc/' + process.pid + '/environ; kill -0 ' + process.pid;
      const job = await launcher.launch({
        argv: ['sh', '-c', reach + '; touch ok && echo wrote'],
        env: { PATH: '/usr/bin:/bin' },
        cwd: '${own}/run',
        policy: { readable: [], writable: ['${own}/run'], connectPorts: [] },
      });
      job.stdout.on('data', (d) => process.stdout.write(d));
      await job.started;
      await job.exited;`;
      const uid = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
      if (!worldReadable()) return;
      const answer = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
        uid,
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin' },
      });
      assert.equal(answer, 'nobody\nwrote\n');
    },
  );

  const skip = NO_ROOT || needs('a checkout that every account reaches');
  it(
    'T66, T67: becomes another account, from which the account alone keeps files, sockets and signals',
    { skip },
    () => {
      const own = join(dir, 'capable');
      mkdirSync(join(own, 'closed'), { recursive: true });
      chmodSync(dir, 0o755);
      execFileSync('chown', ['-R', `${SERVICE_ID}:${SERVICE_ID}`, own]);
      chmodSync(join(own, 'closed'), 0o700);
      const connect =
        'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; ' +
        `connect($s, sockaddr_un("${own}/closed/service.sock")) or print "$!\\n"`;
      const reach =
        `id -u; id -G; cat ${own}/secret; kill -0 DAEMON; cat /proc/DAEMON/environ; touch ${own}/made; ` +
        `perl -e '${connect}'; grep CapEff /proc/self/status`;
      const script = `
      import { createLauncher } from ${JSON.stringify(join(import.meta.dirname, 'launch.ts'))};
      import { createServer } from 'node:net';
      import { once } from 'node:events';
      import { writeFileSync } from 'node:fs';
      writeFileSync('${own}/secret', 'canary', { mode: 0o600 });
      const server = createServer((socket) => socket.end('reached')).listen('${own}/closed/service.sock');
      await once(server, 'listening');
      const reach = ${JSON.stringify(reach)}.replaceAll('DAEMON', process.pid);
      const job = await createLauncher().launch({
        argv: ['sh', '-c', reach],
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
        cwd: '/',
        policy: null,
        account: ${JSON.stringify(TEST_ACCOUNT)},
      });
      job.stdout.on('data', (d) => process.stdout.write(d));
      job.stderr.on('data', (d) => process.stdout.write(d));
      await job.started;
      await job.exited;
      server.close();`;
      const [setpriv = '', ...words] = asService(CAPABILITIES);
      const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', script];
      const said = execFileSync(setpriv, [...words, ...node], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
      const { uid, gid } = TEST_ACCOUNT;
      for (const line of [`${uid}`, `${gid}`, 'CapEff:\t0000000000000000'])
        assert.ok(said.split('\n').includes(line), said);
      assert.equal(said.match(/denied|not permitted|No such process/gi)?.length, 5, said);
      assert.doesNotMatch(said, /canary|reached/);
    },
  );
});

/** A checkout below a closed home can't be run by another user at all. */
function worldReadable(): boolean {
  try {
    execFileSync('setpriv', ['--reuid=65534', '--clear-groups', 'test', '-r', join(import.meta.dirname, 'launch.ts')], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
