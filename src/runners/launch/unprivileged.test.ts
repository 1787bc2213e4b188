import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const NO_LINUX = process.platform === 'linux' ? false : 'the sandbox needs Linux';
const isRoot = process.getuid?.() === 0;

describe('a sandboxed job of a daemon that is not root', { skip: NO_LINUX }, () => {
  let dir: string;

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-unprivileged-')));
  });
  after(() => rmSync(dir, { recursive: true }));

  it(
    'runs as the user that the daemon is, whose files stay closed to the job',
    { skip: isRoot ? false : 'needs root to become somebody' },
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
