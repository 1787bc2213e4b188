/** The service is installed as docs/how-to/run-as-a-service.md says, and what its unit gives to it and to its jobs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { describe, test } from 'node:test';
import { type Api, until } from '../../../../support/api-client.ts';
import {
  commandLines,
  DATA_DIR,
  entry,
  GROUP,
  mainPid,
  openApi,
  outputOf,
  property,
  ran,
  restartWith,
  run,
  svc,
  UNIT,
} from './service.ts';

const HOW_TO = '/opt/gatehouse/docs/how-to/run-as-a-service.md';
/** CAP_KILL, CAP_SETGID, CAP_SETUID. */
const THREE = '00000000000000e0';
const NONE = '0000000000000000';
/** Only root empties the bounding set; without new privileges it gives nothing. */
const CAPABILITY_SETS = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'];

const statusOf = (pid: number, name: string): string =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '';
const capabilities = (pid: number): string[] => CAPABILITY_SETS.map((name) => statusOf(pid, name));
let api: Api;

async function privileged(script: string): Promise<{ stdout: string; stderr: string }> {
  const words = ['command', 'run', '--inventory', 'localhost', '--privileged', '--', 'sh', '-c', script];
  const id = /job_\w+/.exec(svc(...words))?.[0] ?? assert.fail('no job');
  const { state } = await api.waitFor(id);
  const output = await outputOf(api, id);
  assert.equal(state, 'succeeded', `${output.stdout}${output.stderr}${output.system}`);
  return output;
}

describe('The unit', () => {
  test('the service is installed and starts: systemctl returns when it is ready', async (t) => {
    const [, steps] = /```sh\n([^`]*useradd[^`]*)```/.exec(readFileSync(HOW_TO, 'utf8')) ?? assert.fail('no steps');
    run('sh', '-e', '-c', steps ?? '');
    const unit = `/etc/systemd/system/${UNIT}`;
    writeFileSync(unit, run('svc', 'systemd-unit', '--data-dir', DATA_DIR));
    run('systemctl', 'daemon-reload');
    assert.equal(run('systemd-analyze', 'verify', unit), '');
    const begun = performance.now();
    run('systemctl', 'enable', '--now', UNIT);
    t.diagnostic(`started in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    api = openApi();
    assert.equal((await api.get('/jobs')).status, 200);
    assert.deepEqual([property('Type'), property('SubState')], ['notify', 'running']);
    assert.equal(property('StatusText'), 'on http://127.0.0.1:8420');
    t.diagnostic(`Linux ${release()}, ${run('systemctl', '--version').split('\n')[0] ?? ''}`);
    const security = run('systemd-analyze', 'security', '--no-pager', UNIT).trim().split('\n').at(-1) ?? '';
    t.diagnostic(security.replace(/[^ -~]+/g, '').trim());
  });

  test('the doctor: an older kernel, jobs as another account, bounds of control groups', async () => {
    const sandbox = await entry(api, 'sandbox');
    assert.equal(sandbox.status, 'warn');
    assert.match(sandbox.detail, /^Landlock ABI 2, seccomp on x64: this kernel cannot limit TCP to ports/);
    assert.match(sandbox.detail, /; memory and processes of each job: enforced by control groups$/);
    const account = await entry(api, 'job_account');
    assert.deepEqual([account.status, account.detail], ['ok', 'Jobs run as gatehouse-job.']);
  });

  test('T66: daemon and guard have three capabilities and a job has none', async () => {
    const job = await ran(api, 'id -un; id -Gn; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status');
    const sets = CAPABILITY_SETS.map((name) => `${name}:\t${name === 'CapBnd' ? THREE : NONE}`);
    assert.deepEqual(job.trim().split('\n'), [
      'gatehouse-job',
      'gatehouse-job',
      ...sets,
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
    ]);
    const pid = mainPid();
    assert.deepEqual(capabilities(pid), [NONE, THREE, THREE, THREE, NONE]);
    assert.equal(statusOf(pid, 'NoNewPrivs'), '1');
    // The first job has started the guard.
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
    const guard = children.find((each) => readFileSync(`/proc/${each}/cmdline`, 'latin1').includes('guard-child'));
    assert.deepEqual(capabilities(guard ?? assert.fail('no guard')), [THREE, THREE, THREE, THREE, THREE]);
  });

  test('LimitRTPRIO and LimitNICE are for the daemon alone', async () => {
    const limits = readFileSync(`/proc/${mainPid()}/limits`, 'latin1');
    assert.match(limits, /^Max realtime priority +1 +1 /m);
    assert.match(limits, /^Max nice priority +40 +40 /m);
    const job = await ran(api, 'cat /proc/self/limits; nice -n -5 true 2>&1; chrt --rr 1 true 2>&1 || echo refused');
    assert.match(job, /^Max realtime priority +0 +0 /m);
    assert.match(job, /^Max nice priority +0 +0 /m);
    assert.match(job, /cannot set niceness: Permission denied[^]*refused/);
  });

  test('Landlock: a job writes its own run and nothing of the machine or the daemon', async () => {
    const pid = mainPid();
    const script =
      'for f in /tmp/x /var/tmp/x /dev/shm/x /usr/x; do echo x > $f && echo WROTE $f; done; echo x > file; ' +
      `ls ${DATA_DIR} && echo READ; kill -0 ${pid} && echo SIGNALLED; ` +
      `cat /proc/${pid}/environ && echo ENVIRON; echo $$ > ${GROUP}/daemon/cgroup.procs && echo LEFT; true`;
    assert.doesNotMatch(await ran(api, script), /WROTE|READ|SIGNALLED|ENVIRON|LEFT/);
  });

  test('each job has a control group with its bounds, which is removed', async () => {
    const id = await api.run(['sh', '-c', 'cat /proc/self/cgroup; until test -e go; do sleep 0.2; done']);
    await api.waitFor(id, ['running']);
    const group = `${GROUP}/job-${id}`;
    await until('the job has a group', async () => (await outputOf(api, id)).stdout.includes('0::'));
    assert.equal((await outputOf(api, id)).stdout.trim(), `0::/system.slice/${UNIT}/job-${id}`);
    const file = (name: string): string => readFileSync(`${group}/${name}`, 'latin1').trim();
    assert.equal(file('pids.max'), '1024');
    assert.ok(Number(file('memory.max')) > 0);
    assert.equal(file('memory.oom.group'), '1');
    assert.match(readFileSync(`/proc/${mainPid()}/cgroup`, 'latin1'), /gatehouse\.service\/daemon$/m);
    await api.post(`/jobs/${id}/cancel`);
    await api.waitFor(id, ['cancelled']);
    await until('the group is removed', () => !readdirSync(GROUP).includes(`job-${id}`));
  });

  test('T77: what leaves the session of its job, and wipes its environment, ends with the job', async () => {
    const marks = ['sleep 7001', 'sleep 7002', 'sleep 7003'];
    const script = `setsid ${marks[0]} & ${marks[1]} & env -i setsid sh -c "${marks[2]} & exit"; echo up; sleep 0.5`;
    assert.equal(await ran(api, script), 'up\n');
    assert.deepEqual(
      commandLines().filter((line) => marks.includes(line)),
      [],
    );
  });

  test('the unit hides devices and the system from a privileged job too', async () => {
    const script =
      'id -un; grep -oE " /(usr|etc|boot) ext4 ro," /proc/self/mounts | cut -d" " -f2 | sort; ' +
      'test -e /dev/vda || echo no disk; unshare --user true || echo no namespaces; grep NoNewPrivs /proc/self/status';
    const { stdout, stderr } = await privileged(script);
    assert.equal(stdout, 'gatehouse\n/boot\n/etc\n/usr\nno disk\nno namespaces\nNoNewPrivs:\t1\n', stderr);
  });

  test('the drop-in of the how-to gives privileged jobs back what the unit takes', async () => {
    const [, lines] = /\[Service\]\n([^`]*)```/.exec(readFileSync(HOW_TO, 'utf8')) ?? assert.fail('no drop-in');
    await restartWith(...(lines ?? '').split('\n').map((line) => line.trim()));
    const { stdout } = await privileged(
      'unshare --user true && echo ok; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status',
    );
    assert.match(stdout, /^ok\nCapBnd:\t[0-9a-f]*ffff\nNoNewPrivs:\t0\nSeccomp:\t0\n$/);
  });
});
