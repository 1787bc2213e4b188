/** The how-tos of a reboot and of an upgrade, followed as an operator does: each command as it is written. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { patient } from '../../support/measure/slowness.ts';
import { copyProgram, type ProgramCopy } from '../../support/restart/program-copy.ts';
import { blocksOf, type Step, stepsOf } from '../../documents/blocks.ts';

const STEP_LIMIT_MS = 120_000;

interface Machine {
  readonly fixture: Fixture;
  readonly program: ProgramCopy;
  /** Runs a step; what it shows. Throws where it fails. */
  readonly follow: (step: Step) => Promise<string>;
  /** The calls of systemctl. */
  readonly asked: () => string[];
}

/** A service whose program can be replaced, and a shell whose `svc` is that program, on its data directory. */
async function machine(t: TestContext): Promise<Machine> {
  const fixture = await openFixture(t);
  const program = copyProgram(join(fixture.dir, 'program'));
  const bin = join(fixture.dir, 'bin');
  mkdirSync(bin);
  symlinkSync(join(dirname(dirname(program.main)), 'bin', 'svc'), join(bin, 'svc'));
  const calls = join(fixture.dir, 'systemctl');
  writeFileSync(calls, '');
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >> "${calls}"\n`);
  chmodSync(join(bin, 'systemctl'), 0o755);
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: fixture.dir,
    SVC_DATA_DIR: join(fixture.dir, 'data'),
    SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key'),
  };
  const follow = (step: Step): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile('/bin/bash', ['-c', step.text], { env, timeout: patient(STEP_LIMIT_MS) }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout + stderr);
        else reject(new Error(`${step.text}: ${stdout}${stderr}`));
      });
    });
  return { fixture, program, follow, asked: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean) };
}

/** The steps of the blocks of shell below a heading. */
function stepsBelow(path: string, heading: string): Step[] {
  const lines = readFileSync(join(import.meta.dirname, '..', '..', '..', path), 'utf8').split('\n');
  const from = lines.indexOf(heading);
  assert.ok(from >= 0, `${path} has no ${heading}`);
  const after = lines.findIndex((line, at) => at > from && line.startsWith('## '));
  const blocks = blocksOf(path).filter(({ line, language }) => language === 'sh' && line > from && line <= after);
  const steps = blocks.flatMap(stepsOf);
  assert.ok(steps.length > 0, `${path} has no commands below ${heading}`);
  return steps;
}

describe('The how-tos of maintenance', () => {
  test('reboot a host: it is rebooted when nothing runs, and works on after it', async (t) => {
    const { fixture, follow, asked } = await machine(t);
    let daemon = await fixture.start();
    const shown: string[] = [];
    for (const step of stepsBelow('docs/how-to/deploy/reboot-a-host.md', '## One daemon')) {
      shown.push(await follow(step));
      if (!/systemctl reboot/.test(step.command)) continue;
      assert.equal(await daemon.stop(), 0);
      daemon = await fixture.start();
    }
    assert.deepEqual(asked(), ['reboot']);
    assert.match(shown.join(''), /Safe to reboot +yes[^]*Safe to reboot +no[^]*No jobs\./);
    const job = await daemon.api(fixture.token).run(['/bin/true']);
    assert.equal((await daemon.api(fixture.token).waitFor(job)).state, 'succeeded');
  });

  test('upgrade in place: the new build runs in the same process', async (t) => {
    const { fixture, program, follow } = await machine(t);
    const daemon = await fixture.start({ program: program.main });
    const api = daemon.api(fixture.token);
    await until('the daemon knows its program', async () => {
      const { status } = await api.post('/maintenance/restart', {});
      return status === 409;
    });
    let shown = '';
    for (const step of stepsBelow('docs/how-to/upgrade.md', '## Restart in place')) {
      if (/maintenance restart/.test(step.command)) program.install('0.1.0-next');
      shown += await follow(step);
    }
    for (const part of [
      /Verified backup/,
      /The new program has started\./,
      /State +idle/,
      /ok +daemons +Daemons that run: 1\./,
    ])
      assert.match(shown, part);
    const { data } = await api.get<{ server: { version: string } }>('/whoami');
    assert.equal(data.server.version, '0.1.0-next');
    process.kill(daemon.pid, 0);
  });
});
