/** The launches of a daemon in a separate process that is killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { until } from '../../../test/support/api-client.ts';
import { processEntry } from '../process/process-table.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_LINUX = needs('Linux');
const LAUNCH = JSON.stringify(join(import.meta.dirname, 'launch.ts'));

describe('the launches of a daemon', { skip: NO_LINUX }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-launch-daemon-'));
  after(() => rmSync(dir, { recursive: true }));

  it('F01: a daemon that is killed before it gives the order leaves no process that waits, and no tool', async () => {
    const program = `
      import { createLauncher } from ${LAUNCH};
      const launcher = createLauncher();
      const pids = [];
      const launch = (argv, beforeStart) =>
        launcher.launch({ argv, env: { PATH: '/usr/bin:/bin' }, cwd: '/', policy: null, beforeStart });
      const wait = ({ pid }) => { pids.push(pid); return new Promise(() => {}); };
      void launch(['touch', '${dir}/one'], wait);
      const tool = await launch(['sleep', '300']);
      void launch(['touch', '${dir}/two'], wait);
      console.log(JSON.stringify({ tool: tool.pid, waiting: pids }));`;
    const daemon = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    const { tool, waiting } = JSON.parse(String(line)) as { tool: number; waiting: number[] };
    assert.deepEqual(
      waiting.map((pid) => processEntry(pid)?.parent),
      [daemon.pid, daemon.pid],
    );
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    await until('none waits', () => waiting.every((pid) => processEntry(pid) === null));
    assert.deepEqual([existsSync(join(dir, 'one')), existsSync(join(dir, 'two'))], [false, false]);
    process.kill(tool, 'SIGKILL');
  });

  it('keeps a program alive until its tool has ended, also when the tool closes its output', async () => {
    const program = `
      import { createLauncher } from ${LAUNCH};
      const argv = ['sh', '-c', 'exec >&- 2>&-; sleep 0.3; exit 7'];
      const tool = await createLauncher().launch({ argv, env: { PATH: '/usr/bin:/bin' }, cwd: '/', policy: null });
      console.log((await tool.exited).exitCode);`;
    const daemon = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    assert.equal(String(line), '7\n');
  });
});
