/** What the command line of the machine says of a running job whose daemon was killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');
const EXIT_BUSY = 7;

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runSvc(dataDir: string, ...args: string[]): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'],
    HOME: dataDir,
    SVC_DATA_DIR: dataDir,
    SVC_SEAL_KEY_FILE: join(dataDir, '..', 'seal.key'),
  };
  const child = spawn(SVC, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ran = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (ran.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (ran.stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...ran }));
  });
}

test('After kill -9 the job is said to run no more, tail and wait end, and the next daemon takes it up', async (t) => {
  const fixture = await openFixture(t);
  const daemon = await fixture.start();
  const job = await fixture.queue({ command: ['/bin/sleep', '300'] });
  await fixture.waitFor(job, ['running']);
  const alive = await runSvc(daemon.ready.data_dir, 'job', 'get', job);
  assert.doesNotMatch(alive.stderr, /gone/);
  await daemon.kill();

  const svc = (...args: string[]): Promise<Ran> => runSvc(daemon.ready.data_dir, ...args);
  const gone = new RegExp(`Job ${job} is not running any more: its daemon \\S+ is gone`);
  for (const verb of ['get', 'list']) {
    const { code, stderr } = await svc('job', verb, ...(verb === 'get' ? [job] : []));
    assert.equal(code, 0);
    assert.match(stderr, gone);
    assert.match(stderr, new RegExp(`svc job redrive ${job}`));
  }
  assert.match((await svc('job', 'get', job, '--output', 'json')).stdout, /"state":"running"/);
  for (const verb of ['tail', 'wait']) {
    const { code, stderr } = await svc('job', verb, job);
    assert.equal(code, EXIT_BUSY, stderr);
    assert.match(stderr, gone);
  }
  const doctor = JSON.parse((await svc('doctor', '--output', 'json')).stdout) as {
    data: { name: string; status: string; detail: string }[];
  };
  const entry = doctor.data.find(({ name }) => name === 'daemons');
  assert.equal(entry?.status, 'warn');
  assert.ok(entry.detail.includes(job), entry.detail);
  const queued = await svc('command', 'run', '--inventory', 'localhost', '--', 'true');
  assert.equal(queued.code, 0, queued.stderr);
  assert.match(queued.stderr, /No daemon runs, so no one takes the job: start svc serve\./);

  await fixture.start();
  await fixture.waitFor(job, ['interrupted']);
  assert.doesNotMatch((await svc('job', 'list')).stderr, /gone/);
});
