/**
 * A stand-alone program, in a separate mount namespace: `node writable-story.ts DIR`. Mounts a small disk, fills it,
 * and lets a rule of a real daemon clean it. Then it changes what the paths of orders lead to. Ends with 0 if all
 * expectations hold, and prints those that do not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DoctorEntry } from '../../../src/doctor/entry.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { type Api, until } from '../api-client.ts';
import { openFixture, type Fixture } from '../fixtures/installation.ts';
import { linesOf } from '../infrastructure.ts';

/** Whether this process can start jobs as another account. */
const MAY_BE_ANOTHER = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n').length > 1;

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const OPEN = 0o777;

function mount(dir: string, ...options: string[]): void {
  const done = spawnSync('mount', [...options, dir], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
}

function folder(path: string): string {
  mkdirSync(path);
  // Jobs of a daemon that is root run as another account.
  chmodSync(path, OPEN);
  return path;
}

async function refusal(asked: Promise<unknown>): Promise<string> {
  const result = await asked.catch((error: unknown) => error);
  if (!(result instanceof Failure)) return 'nothing was refused';
  return `${result.code}: ${result.message}`;
}

async function run(fixture: Fixture, order: object, state: string): Promise<string> {
  const queued = await fixture.call<{ job_id: string }>('command.run', { inventory: 'localhost', ...order });
  const row = await fixture.waitFor(queued.job_id, ENDED);
  const lines = (await linesOf(fixture, queued.job_id)).join('\n');
  assert.equal(row.state, state, lines);
  return lines;
}

/** A rule frees a full disk, after the approval of a second person. */
async function rule(fixture: Fixture, api: Api): Promise<void> {
  const disk = folder(join(fixture.dir, 'disk'));
  mount(disk, '-t', 'tmpfs', '-o', 'size=1m,mode=0777', 'gatehouse');
  const fill = (): void =>
    writeFileSync(join(disk, `old-${readdirSync(disk).length}.log`), Buffer.alloc(200_000), { mode: 0o666 });
  assert.throws(() => { for (;;) fill(); }, { code: 'ENOSPC' }); // prettier-ignore
  const text = [
    'name: disk-full',
    'when: event.name == "DiskFull"',
    'approval: required',
    'action:',
    `  command: [find, ${disk}, -name, "old-*.log", -delete]`,
    '  inventory: localhost',
    `  writable: [${disk}]`,
    '  egress_ports: [443]',
  ].join('\n');
  await fixture.call('rule.add', { text });
  const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'alerts', source: 'generic' });
  await fetch(url, { method: 'POST', body: '{"name":"DiskFull","status":"firing","labels":{"host":"db1"}}' });
  interface Approval { readonly id: string; readonly job_id: string; readonly summary: string } // prettier-ignore
  const asked = await until('an approval waits', async () => (await api.get<Approval[]>('/approvals')).data[0]);
  assert.equal(asked.summary, 'run a command on localhost (writes outside its run) · DiskFull on db1');
  const as = { name: 'bea', owner: 'bea', scopes: ['approve'] as const };
  await fixture.call('approval.decision', { id: asked.id, decision: 'approve' }, as);
  const end = await fixture.waitFor(asked.job_id, ENDED);
  assert.equal(end.state, 'succeeded', (await linesOf(fixture, asked.job_id)).join('\n'));
  assert.deepEqual(readdirSync(disk), []);
  assert.ok(statfsSync(disk).bavail > 0);
  const spoken = await fixture.call<{ writable?: string[] }>('job.command', { id: asked.job_id });
  assert.deepEqual(spoken.writable, [disk]);
  const shown = `${(await api.get('/rules')).text}${(await api.get(`/jobs/${asked.job_id}`)).text}`;
  assert.ok(!shown.includes(disk), 'the API shows the path');
}

/** What was one directory at the order and is something else at the start is refused there. */
async function changed(fixture: Fixture): Promise<void> {
  const [path, other] = [folder(join(fixture.dir, 'cache')), folder(join(fixture.dir, 'other'))];
  const touch = { command: ['touch', join(path, 'made')], writable: [path] };
  assert.match(await run(fixture, { ...touch, writable: [] }, 'failed'), /Permission denied/);
  const script = `cd ${path} && touch made && mkdir in && mv made in/ && mkdir "$HOME/x" && mv "$HOME/x" in/`;
  await run(fixture, { ...touch, command: ['sh', '-c', script] }, 'succeeded');
  assert.ok(existsSync(join(path, 'in', 'made')));
  await run(fixture, { ...touch, command: ['touch', join(other, 'made')] }, 'failed');

  await fixture.call('maintenance.cordon', {});
  const waiting = await fixture.call<{ job_id: string }>('command.run', { inventory: 'localhost', ...touch });
  renameSync(path, `${path}-before`);
  symlinkSync(other, path);
  await fixture.call('maintenance.uncordon', {});
  assert.equal((await fixture.waitFor(waiting.job_id, ENDED)).state, 'failed');
  const said = (await linesOf(fixture, waiting.job_id)).join('\n');
  assert.match(said, /never started: writable: ".*cache": .*cache is a symbolic link/);
  assert.deepEqual(readdirSync(other), []);
  // A directory of the service under another name, and one that holds it.
  const alias = folder(join(fixture.dir, 'alias'));
  for (const [what, why] of [
    [join(fixture.dir, 'data'), /^invalid_argument: writable: ".*alias": it is or lies in .*data/],
    [fixture.dir, /^invalid_argument: writable: ".*alias": it holds .*data/],
  ] as const) {
    mount(alias, '--bind', what);
    const bound = fixture.call('command.run', { ...touch, inventory: 'localhost', writable: [alias] });
    assert.match(await refusal(bound), why);
  }
}

async function refused(fixture: Fixture, api: Api): Promise<void> {
  const order = { inventory: 'localhost', command: ['true'] };
  for (const path of ['/', '/etc', '/var', join(fixture.dir, 'data'), join(fixture.dir, 'none'), fixture.dir]) {
    const why = await refusal(fixture.call('command.run', { ...order, writable: [path] }));
    assert.match(why, /^invalid_argument: writable: /, path);
    const schedule = { ...order, name: 'tidy', cron: '0 3 * * *', writable: [path] };
    assert.match(await refusal(fixture.call('schedule.add', schedule)), /^invalid_argument: writable: /, path);
  }
  const both = fixture.call('command.run', { ...order, privileged: true, writable: [join(fixture.dir, 'other')] });
  assert.match(await refusal(both), /^invalid_argument: writable: expected only without privileged/);
  const answer = await api.post('/commands/run', { ...order, writable: [join(fixture.dir, 'other')] });
  assert.deepEqual([answer.status, answer.error?.code], [400, 'invalid_argument']);
  const health = (await api.get<DoctorEntry[]>('/health')).data.find(({ name }) => name === 'privilege_posture');
  assert.equal(health?.status, 'warn');
  assert.match(
    health?.detail ?? '',
    /^No run queued .* ran unsandboxed; 4 runs could write outside the directory of a run\.$/,
  );
}

/** Somebody who can write the database alone adds no directory to an order. */
async function forged(fixture: Fixture): Promise<void> {
  const path = folder(join(fixture.dir, 'forged'));
  await fixture.call('maintenance.cordon', {});
  const order = { inventory: 'localhost', command: ['touch', join(path, 'made')] };
  const { job_id: id } = await fixture.call<{ job_id: string }>('command.run', order);
  const spec = JSON.stringify({ ...(JSON.parse((await fixture.row(id)).spec) as object), writable: [path] });
  await fixture.store.write(
    async ({ db }) => void (await db.updateTable('jobs').set({ spec }).where('id', '=', id).execute()),
  );
  await fixture.call('maintenance.uncordon', {});
  assert.equal((await fixture.waitFor(id, ENDED)).state, 'failed');
  assert.match((await linesOf(fixture, id)).join('\n'), /was changed after it was written/);
  assert.deepEqual(readdirSync(path), []);
}

const [dir] = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && dir !== undefined) {
  process.env['TMPDIR'] = dir;
  const steps: (() => Promise<void>)[] = [];
  try {
    const fixture = await openFixture({ after: (step) => void steps.push(step) });
    // In a user namespace it is root, and no other account of the machine is there to run jobs as.
    const daemon = await fixture.start(MAY_BE_ANOTHER ? {} : { args: ['--job-user', 'root'] });
    const api = daemon.api(fixture.token);
    await rule(fixture, api);
    await changed(fixture);
    await refused(fixture, api);
    await forged(fixture);
    assert.equal(await daemon.stop(), 0);
  } finally {
    for (const step of steps.toReversed()) await step().catch(() => undefined);
  }
}
