/** A daemon that is root, and the account that its jobs run as. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findJobAccount } from '../../../src/config/job-account.ts';
import type { DoctorEntry } from '../../../src/doctor/entry.ts';
import { until } from '../../support/api-client.ts';
import { NotReady } from '../../support/daemon.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { linesOf } from '../../support/infrastructure.ts';
import { needs } from '../../support/tools.ts';

const NO_ROOT = needs('root');

async function output(fixture: Fixture, id: string): Promise<string> {
  return (await linesOf(fixture, id)).join('\n');
}

async function ran(fixture: Fixture, script: string, state = 'succeeded', privileged = false): Promise<string> {
  const id = await fixture.queue({ command: ['sh', '-c', script], privileged });
  await fixture.waitFor(id, [state]);
  return output(fixture, id);
}

function modesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mode, uid, gid } = statSync(join(dir, name));
    return `${name} ${mode.toString(8)} ${uid}:${gid}`;
  });
}

describe('A daemon that is root', { skip: NO_ROOT }, () => {
  test('T66: runs its jobs as another account, which gets no set-user-ID bit and nothing of root', async (t) => {
    const fixture = await openFixture(t);
    await fixture.start();
    const account = (await findJobAccount(null))?.account ?? assert.fail('there is no account');
    const script =
      'echo "$(id -un) $USER $(id -u) $(id -G)"; stat -c "%u %a" .; cp /bin/sh x; chmod u+s x; stat -c %a x; ' +
      'cat /etc/shadow; echo to-file > out; echo again > /dev/stdout';
    const lines = (await ran(fixture, script)).split('\n');
    assert.deepEqual(lines.filter((line) => !line.includes('denied') && !line.includes('not permitted')).slice(0, 3), [
      `${account.name} ${account.name} ${account.uid} ${account.gid}`,
      `${account.uid} 700`,
      '755',
    ]);
    assert.ok(lines.includes('again'), lines.join('\n'));
    assert.equal(
      lines.filter((line) => /chmod: .*not permitted|shadow: Permission denied/.test(line)).length,
      2,
      lines.join('\n'),
    );
    await until('the run is removed', () => fixture.leftRuns().length === 0);
  });

  test('T66: a privileged job runs as the daemon, all jobs as root with --job-user root: it warns', async (t) => {
    const fixture = await openFixture(t);
    await fixture.start();
    assert.equal(await ran(fixture, 'id -u', 'succeeded', true), '0');
    const other = await openFixture(t);
    const daemon = await other.start({ args: ['--job-user', 'root', '--runs-dir', join(other.dir, 'data', 'runs')] });
    assert.equal(await ran(other, 'id -u'), '0');
    const report = await daemon.api(other.token).get<DoctorEntry[]>('/health');
    const entry = report.data.find(({ name }) => name === 'job_account');
    assert.deepEqual([entry?.status, /Jobs run as root/.test(entry?.detail ?? '')], ['warn', true]);
  });

  test('T66: data directory and sources keep their owners and modes, and a run can use what it is given', async (t) => {
    const fixture = await openFixture(t);
    const root = join(fixture.dir, 'net');
    mkdirSync(join(root, 'modules', 'inner'), { recursive: true });
    writeFileSync(join(root, 'main.tf'), 'module "inner" {\n  source = "./modules/inner"\n}\n');
    writeFileSync(join(root, 'modules', 'inner', 'main.tf'), 'resource "terraform_data" "x" {\n  input = "one"\n}\n');
    chmodSync(join(root, 'modules'), 0o700);
    const before = modesBelow(root);
    await fixture.start();
    await fixture.call('workspace.add', { name: 'net', dir: root });
    const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.plan', { name: 'net' });
    await fixture
      .waitFor(id, ['succeeded'])
      .catch(async (error: unknown) => assert.fail(`${String(error)}\n${await output(fixture, id)}`));
    assert.deepEqual(modesBelow(root), before);
    assert.deepEqual(
      modesBelow(join(fixture.dir, 'data')).filter((line) => !line.endsWith(' 0:0')),
      [],
    );
  });

  test('T66: kills a job of the account, and names another process of the account', async (t) => {
    const fixture = await openFixture(t);
    // Not the default account, whose processes the doctor of another test would name, and not the account "nobody",
    // as which PostgreSQL may run.
    const daemon = await fixture.start({ args: ['--job-user', 'games'] });
    const id = await fixture.queue({
      command: ['sh', '-c', 'sleep 300 & setsid sleep 301 & echo up; wait'],
      privileged: false,
    });
    await until('the job is up', async () => (await output(fixture, id)).includes('up'));
    await fixture.call('job.cancel', { id });
    await fixture.waitFor(id, ['cancelled']);
    const { account } = (await findJobAccount('games')) ?? assert.fail('there is no account');
    const stranger = spawn('sleep', ['300'], { uid: account?.uid, gid: account?.gid, env: {}, stdio: 'ignore' });
    t.after(() => void stranger.kill('SIGKILL'));
    await until('it runs', () => existsSync(`/proc/${stranger.pid}`));
    const report = await daemon.api(fixture.token).get<DoctorEntry[]>('/health');
    assert.match(JSON.stringify(report.data), new RegExp(`belongs? to no job \\(pid [^)]*${stranger.pid}`));
  });

  test('T66: does not start with an unknown account, or with a place that the account cannot reach', async (t) => {
    const fixture = await openFixture(t);
    await assert.rejects(
      fixture.start({ args: ['--job-user', 'no-such-account-here'] }),
      (error: unknown) => error instanceof NotReady && error.message.includes('no-such-account-here'),
    );
    await assert.rejects(
      fixture.start({ args: ['--runs-dir', join(fixture.dir, 'data', 'inside')] }),
      (error: unknown) => error instanceof NotReady && error.message.includes('cannot enter'),
    );
  });
});
