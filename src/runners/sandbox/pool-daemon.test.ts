/** The launchers of a daemon in a separate process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const NO_LINUX = process.platform === 'linux' ? false : 'the sandbox needs Linux';

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

describe('the launchers of a daemon', { skip: NO_LINUX }, () => {
  it("lets a launcher run without anything of the daemon's environment", async () => {
    const program = `
      import { createLauncherPool } from ${JSON.stringify(join(import.meta.dirname, 'pool.ts'))};
      import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'lib', 'clock.ts'))};
      import { readFileSync } from 'node:fs';
      const pool = createLauncherPool({ clock: systemClock, compileCacheDir: null });
      await pool.supported();
      const [pid] = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ');
      console.log(JSON.stringify(readFileSync('/proc/' + pid + '/environ', 'utf8')));
      await pool.stop();`;
    const daemon = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
      env: { NODE_OPTIONS: '--no-deprecation', LD_PRELOAD_CANARY: 'x', CANARY: 'y' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    assert.equal(String(line).trim(), '""');
    await once(daemon, 'exit');
  });

  it('ends every idle launcher when the daemon is killed', async () => {
    const program = `
      import { createLauncherPool } from ${JSON.stringify(join(import.meta.dirname, 'pool.ts'))};
      import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'lib', 'clock.ts'))};
      const pool = createLauncherPool({ clock: systemClock, warm: 2 });
      await pool.supported();
      const children = (await import('node:fs')).readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8');
      console.log(children.trim());
      setInterval(() => {}, 1000);`;
    const daemon = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    const launchers = String(line).trim().split(' ').map(Number);
    assert.equal(launchers.length, 2);
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    for (let look = 0; launchers.some(isAlive) && look < 200; look++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(launchers.filter(isAlive), []);
  });
});
