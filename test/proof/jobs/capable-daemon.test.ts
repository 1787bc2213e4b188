/** A daemon that is not root, and the account that its jobs run as: by three capabilities and no other. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { findJobAccount } from '../../../src/config/job-account.ts';
import type { DoctorEntry } from '../../../src/doctor/entry.ts';
import type { AccountIds } from '../../../src/domain/jobs/account.ts';
import { findSurvivors } from '../../../src/runners/process/tree.ts';
import {
  asService,
  CAPABILITIES,
  type CapableFixture,
  JOB_USER,
  openCapableFixture,
  SERVICE_ID,
} from '../../support/accounts/capable-daemon.ts';
import { NO_ROOT } from '../../support/accounts/job-account.ts';
import { until } from '../../support/api-client.ts';
import { Objects } from '../../support/attacks/hostile/objects.ts';
import { HostileServer } from '../../support/attacks/hostile/server.ts';
import { NotReady } from '../../support/daemon.ts';
import { addWorkspace, items, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';
import { needs } from '../../support/tools.ts';

async function output(fixture: CapableFixture, id: string): Promise<string> {
  return (await linesOf(fixture, id)).join('\n');
}

async function ran(fixture: CapableFixture, script: string, privileged = false): Promise<string> {
  const id = await fixture.queue({ command: ['sh', '-c', script], privileged });
  const { state } = await fixture.waitFor(id, ['succeeded', 'failed']);
  assert.equal(state, 'succeeded', await output(fixture, id));
  return output(fixture, id);
}

async function jobAccount(): Promise<AccountIds> {
  return (await findJobAccount(JOB_USER))?.account ?? assert.fail(`there is no account ${JOB_USER}`);
}

const statusOf = (pid: number): string => readFileSync(`/proc/${pid}/status`, 'latin1');
const cmdlineOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1');
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);

/** Inheritable, permitted, effective and ambient, of the text of /proc/<pid>/status. */
function capabilities(status: string): string[] {
  return ['Inh', 'Prm', 'Eff', 'Amb'].map((set) => new RegExp(`^Cap${set}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? '');
}

/** The last one has left the session, with an empty environment. */
const ESCAPING = 'setsid sleep 300 & sleep 301 & env -i setsid sh -c "sleep 302 & exit"; echo up; wait';

const skip = NO_ROOT || needs('a checkout that every account reaches');

/** Jobs above a bound of 50 processes and 128 MiB. What processes share counts once. */
const BEYOND = [
  { script: 'for (1..70) { fork or do { sleep 60; exit } } sleep 60', says: /^The job had more than 50 processes/m },
  {
    script: 'my $x = "x" x (20 << 20); for (1..9) { fork or do { $x = "y" x (20 << 20); sleep 60; exit } } sleep 60',
    says: /^The job used more than 128 MiB of memory and was ended\.$/m,
  },
];
/** A trial starts the program twice, and reads all files three times. */
const RESTART_LIMIT_MS = 120_000;
const FETCH = join(import.meta.dirname, '..', '..', 'support', 'accounts', 'fetch-as-service.ts');

describe('A daemon with CAP_SETUID, CAP_SETGID and CAP_KILL', { skip }, () => {
  test('T66: runs a job as another account, without groups and capabilities', async (t) => {
    const fixture = await openCapableFixture(t);
    await fixture.start(fixture.flags());
    const { uid, gid } = await jobAccount();
    const lines = await ran(
      fixture,
      'id -u; id -G; stat -c "%u %a" .; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status; ' +
        // The daemon sets it once the tool has started.
        'until grep -qx 1000 /proc/$$/oom_score_adj; do :; done; cat /proc/self/oom_score_adj; ' +
        'echo again > /dev/stderr',
    );
    const none = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((name) => `${name}:\t0000000000000000`);
    assert.deepEqual(
      lines.split('\n').toSorted(),
      [`${uid}`, `${gid}`, `${uid} 700`, ...none, '1000', 'again'].toSorted(),
    );
    await until('the run is removed', () => fixture.leftRuns().length === 0);
  });

  test('T66: has them after a restart in place too, and its jobs have none', async (t) => {
    const fixture = await openCapableFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ ...fixture.flags(), program: program.main });
    const api = daemon.api(fixture.token);
    const isRefused = async () => (await api.post('/maintenance/restart', {})).status === 409;
    await until('the daemon knows its program', isRefused);
    const before = capabilities(statusOf(daemon.pid));
    program.install('0.1.0-next');
    assert.equal((await api.post('/maintenance/restart', {})).status, 200);
    await until(
      'the new program runs',
      async () => {
        const { data } = await api.get<{ server: { version: string } }>('/whoami');
        return data.server.version === '0.1.0-next';
      },
      RESTART_LIMIT_MS,
    );
    assert.deepEqual(capabilities(statusOf(daemon.pid)), before);
    const lines = await ran(fixture, 'id -u; grep -E "^Cap(Prm|Amb)" /proc/self/status');
    const none = ['CapPrm', 'CapAmb'].map((name) => `${name}:\t0000000000000000`);
    assert.deepEqual(lines.split('\n').toSorted(), [`${(await jobAccount()).uid}`, ...none].toSorted());
  });

  test('T78: bounds the processes and the memory of jobs', async (t) => {
    const fixture = await openCapableFixture(t);
    const flags = fixture.flags();
    const bounds = ['--job-memory', '128MiB', '--job-processes', '50', '--max-jobs', '2'];
    await fixture.start({ ...flags, args: [...(flags.args ?? []), ...bounds] });
    // Of the account, for both jobs.
    assert.match(await ran(fixture, 'grep "^Max processes" /proc/self/limits'), /^Max processes +100 +100 /m);
    for (const { script, says } of BEYOND) {
      const id = await fixture.queue({ command: ['timeout', '--signal=KILL', '60', 'perl', '-e', script] });
      await fixture.waitFor(id, ['failed'], 60_000);
      assert.match(await output(fixture, id), says);
      assert.deepEqual(await findSurvivors(id), []);
    }
  });

  test('T66, T70: git of a daemon fetches as the account of jobs', { skip: needs('git') }, async (t) => {
    const fixture = await openCapableFixture(t);
    const server = await new HostileServer().listen();
    t.after(() => server.close());
    const objects = new Objects();
    const tip = objects.commit(objects.tree(['100644', 'f', objects.blob()]));
    const url = server.serve({ tip, shallow: tip, pack: objects.pack() });
    const [program, ...words] = [...asService(CAPABILITIES), process.execPath, FETCH, url, fixture.dir];
    const { stdout } = await promisify(execFile)(program, words, { timeout: 60_000, cwd: '/' });
    const { uid } = await jobAccount();
    assert.deepEqual(JSON.parse(stdout), {
      started: [
        [uid, uid],
        [uid, uid],
      ],
      files: ['f'],
      owner: SERVICE_ID,
      left: [],
    });
  });

  test('T66: a job reaches no file, process or mode of the daemon', async (t) => {
    const fixture = await openCapableFixture(t);
    const daemon = await fixture.start(fixture.flags());
    const lines = await ran(
      fixture,
      `cat ${fixture.dir}/data/gatehouse.db; ls ${fixture.dir}/data-runs; kill -0 ${daemon.pid}; ` +
        `cat /proc/${daemon.pid}/environ; chmod 777 ${fixture.dir}/data ${fixture.dir}/seal.key; true`,
    );
    assert.equal(lines.match(/denied|not permitted/gi)?.length, 6, lines);
  });

  test('T66: only the daemon and its guard have the capabilities, also where a job is privileged', async (t) => {
    const fixture = await openCapableFixture(t);
    const daemon = await fixture.start(fixture.flags());
    const held = '00000000000000e0';
    const none = '0000000000000000';
    const report = await ran(fixture, 'id -u; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status', true);
    assert.deepEqual(capabilities(report), [none, none, none, none], report);
    assert.match(report, new RegExp(`^${SERVICE_ID}$`, 'm'));
    assert.deepEqual(capabilities(statusOf(daemon.pid)), [none, held, held, none]);
    const guard = childrenOf(daemon.pid).find((pid) => cmdlineOf(pid).includes('guard-child')) ?? assert.fail();
    assert.deepEqual(capabilities(statusOf(guard)), [held, held, held, held]);
  });

  test('T61, T66: removes what a job closed and what it linked, and nothing else', async (t) => {
    const fixture = await openCapableFixture(t);
    await fixture.start(fixture.flags());
    const outside = join(fixture.dir, 'outside');
    mkdirSync(outside, { mode: 0o777 });
    writeFileSync(join(outside, 'file'), 'x');
    chmodSync(outside, 0o777);
    const script =
      `mkdir -p a/b/c d; echo x > a/b/c/f; ln -s ${outside} a/link; ln -s ${outside}/file a/b/link; mkfifo a/pipe; ` +
      'for n in $(seq 600); do : > d/$n; done; chmod 000 a/b/c a/b a d .';
    await ran(fixture, script);
    await until('the run is removed', () => fixture.leftRuns().length === 0);
    assert.deepEqual(readdirSync(outside), ['file']);
  });

  test('T77: ends every process of a job that is cancelled, also what left its session', async (t) => {
    const fixture = await openCapableFixture(t);
    await fixture.start(fixture.flags());
    const id = await fixture.queue({ command: ['sh', '-c', ESCAPING] });
    await until('the job is up', async () => (await output(fixture, id)).includes('up'));
    await fixture.call('job.cancel', { id });
    await fixture.waitFor(id, ['cancelled']);
    assert.deepEqual(await findSurvivors(id), []);
  });

  test('F01, T66: ends every process when it is killed; the next daemon removes the files', async (t) => {
    const fixture = await openCapableFixture(t);
    const daemon = await fixture.start(fixture.flags());
    const id = await fixture.queue({ command: ['sh', '-c', ESCAPING] });
    await until('the job is up', async () => (await output(fixture, id)).includes('up'));
    await daemon.kill();
    await until('nothing of the job is left', async () => (await findSurvivors(id)).length === 0, 60_000);
    assert.equal(fixture.leftRuns().length > 0, true);
    await fixture.start(fixture.flags());
    await fixture.waitFor(id, ['interrupted']);
    await until('the run is removed', () => fixture.leftRuns().length === 0);
  });

  test('says which account jobs have, and finds a process of it that belongs to no job', async (t) => {
    const fixture = await openCapableFixture(t);
    const daemon = await fixture.start(fixture.flags());
    const { uid, gid } = await jobAccount();
    const entry = async (): Promise<DoctorEntry | undefined> =>
      (await daemon.api(fixture.token).get<DoctorEntry[]>('/health')).data.find(({ name }) => name === 'job_account');
    const id = await fixture.queue({ command: ['sh', '-c', ESCAPING] });
    await until('the job is up', async () => (await output(fixture, id)).includes('up'));
    assert.deepEqual(await entry(), { name: 'job_account', status: 'ok', detail: `Jobs run as ${JOB_USER}.` });
    const stranger = spawn('sleep', ['300'], { uid, gid, env: {}, stdio: 'ignore' });
    t.after(() => void stranger.kill('SIGKILL'));
    await until('the doctor names it', async () => (await entry())?.detail.includes(`pid ${stranger.pid}`));
  });

  test('does not start without one of the capabilities, and names it', async (t) => {
    const fixture = await openCapableFixture(t);
    for (const missing of CAPABILITIES) {
      const held = CAPABILITIES.filter((name) => name !== missing);
      await assert.rejects(
        fixture.start(fixture.flags(held)),
        (error: unknown) => error instanceof NotReady && error.message.includes(`lacks CAP_${missing.toUpperCase()};`),
      );
    }
    await assert.rejects(
      fixture.start({ ...fixture.flags(), args: ['--job-user', 'root'] }),
      (error: unknown) => error instanceof NotReady && error.message.includes('the user or the group of root'),
    );
  });
});

describe('A workspace of a daemon with these capabilities', { skip: skip || needs('terraform or tofu') }, () => {
  test('T20, T66: is planned and applied as the account; the state of an apply that is killed is kept', async (t) => {
    const fixture = await openCapableFixture(t);
    const daemon = await fixture.start(fixture.flags());
    const wait = 'provisioner "local-exec" {\n    command = "id -u; while sleep 0.1; do :; done"\n  }';
    await addWorkspace(fixture, 'net', items(3));
    const planned = await runToEnd(fixture, 'plan', 'net');
    assert.equal(planned.state, 'succeeded', await output(fixture, planned.id));
    const applied = await runToEnd(fixture, 'apply', 'net', { plan: planned.plan_artifact_id });
    assert.equal(applied.state, 'succeeded', await output(fixture, applied.id));
    writeFileSync(
      join(fixture.dir, 'net', 'main.tf'),
      `${items(5)}resource "terraform_data" "last" {\n  depends_on = [terraform_data.item]\n  ${wait}\n}\n`,
    );
    const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.apply', { name: 'net' });
    const { uid } = await jobAccount();
    await until(
      'the last resource is being made',
      async () => (await output(fixture, id)).includes(`(local-exec): ${uid}`),
      60_000,
    );
    await daemon.kill();
    await until('nothing of the job is left', async () => (await findSurvivors(id)).length === 0, 60_000);
    await fixture.start(fixture.flags());
    await fixture.waitFor(id, ['interrupted'], 60_000);
    const next = await runToEnd(fixture, 'plan', 'net');
    // Nothing is made a second time; the resource that was being made is replaced.
    assert.match(await output(fixture, next.id), /Plan: 1 to add, 0 to change, 1 to destroy/);
    await until('the runs are removed', () => fixture.leftRuns().length === 0);
  });
});
