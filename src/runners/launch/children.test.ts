import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/api-client.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
import { Children } from './children.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_LINUX = needs('Linux');

describe('the children of a daemon', { skip: NO_LINUX }, () => {
  it('adopts what a program leaves behind, and takes its end', async () => {
    const children = new Children(openSystemCalls());
    const parent = spawn('sh', ['-c', 'setsid sleep 300 >&- 2>&- & echo $!'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [data] = (await once(parent.stdout, 'data')) as [Buffer];
    await once(parent, 'exit');
    const orphan = Number(data);
    assert.ok(children.adopted()?.includes(orphan));
    process.kill(orphan, 'SIGKILL');
    await until('its end is taken', () => !children.adopted()?.includes(orphan));
    assert.throws(() => process.kill(orphan, 0), { code: 'ESRCH' });
  });

  it('leaves the children that Node has started, and their ends, to Node', async () => {
    const children = new Children(openSystemCalls());
    const own = spawn('sh', ['-c', 'read line; exit 7'], { stdio: ['pipe', 'ignore', 'ignore'] });
    assert.equal(children.adopted()?.includes(own.pid ?? 0), false);
    own.stdin.end();
    assert.deepEqual(await once(own, 'exit'), [7, null]);
  });

  it('does not know what is left where the kernel has no list of children', () => {
    assert.equal(new Children(openSystemCalls(), '/proc/self/no-such-list').adopted(), null);
  });
});
