/** What the bounds add to the start of a program. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLauncher, type LaunchRequest } from '../launch/launch.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4');
const NO_ROOT = needs('root');

async function outputOf(script: string, more: Partial<LaunchRequest>): Promise<string> {
  const launched = await createLauncher().launch({
    argv: ['sh', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    policy: { readable: [], writable: [], connectPorts: [] },
    ...more,
  });
  launched.stderr.resume();
  let text = '';
  for await (const chunk of launched.stdout) text += String(chunk);
  await launched.started;
  return text;
}

function groupFile(t: TestContext): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-group-')));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'cgroup.procs');
  writeFileSync(file, '');
  return file;
}

describe('a program with bounds', { skip: NO_SANDBOX }, () => {
  for (const [what, policy] of [
    ['in the sandbox', { readable: [], writable: [], connectPorts: [] }],
    ['privileged', null],
  ] as const) {
    it(`joins its control group before it is the tool, ${what}`, async (t) => {
      const group = groupFile(t);
      assert.equal(await outputOf('echo ran', { group, policy }), 'ran\n');
      assert.equal(readFileSync(group, 'latin1'), '0');
    });
  }

  it('never starts where it cannot join its group, and says so', async (t) => {
    const group = groupFile(t);
    rmSync(group);
    await assert.rejects(outputOf('echo ran', { group }), {
      name: 'SandboxRefused',
      message: 'The tool never started: joining the control group failed (ENOENT).',
    });
  });

  it('has no descriptor of its group', async (t) => {
    const text = await outputOf('ls -l /proc/$$/fd', { group: groupFile(t) });
    assert.doesNotMatch(text, /cgroup\.procs/);
    assert.match(text, / 2 -> pipe/);
  });

  it('T78: has no more processes than its account may have, and cannot raise that', { skip: NO_ROOT }, async () => {
    const account = { uid: 64_200, gid: 64_200 };
    const limits = { processesOfAccount: 20 };
    const forks = `perl -e '$| = 1; while ($n++ < 50) { my $pid = fork; last if !defined $pid; sleep 60 if !$pid }
      print "$n: $!"; kill 9, -getpgrp(0)'`;
    assert.equal(await outputOf(forks, { account, limits }), '19: Resource temporarily unavailable');
    const other = { uid: 64_201, gid: 64_201 };
    const text = await outputOf('grep "Max processes" /proc/self/limits', { account: other, limits });
    assert.match(text, /^Max processes +20 +20 /m);
  });
});
