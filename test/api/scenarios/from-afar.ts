/** What a person does at night from a laptop: operations that stop or repeat something, and open no gate. */
import assert from 'node:assert/strict';
import { toJson } from '../../../src/lib/json.ts';
import { insertRule } from '../../../src/store/rules/rules.ts';
import { addSchedule } from '../../support/fixtures/schedules.ts';
import { putEvents } from '../../support/fixtures/events.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { callLocally, jobIdOf, makeWorkspace } from '../../support/fixtures/workspaces.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

type Given = Readonly<Record<string, string>>;

const NO_RUN = 'wfr_00000000000000000000000000';
const NO_JOB = 'job_00000000000000000000000000';

async function rule({ store }: Program, approval: 'none' | 'required' = 'none'): Promise<Given> {
  const action = { kind: 'notify', message: 'disk' } as const;
  const made = { cooldownMs: null, approval, approvalTtlMs: null, owners: ['rolf'], addedBy: 'rolf' } as const;
  await store.write((tx) => insertRule(tx, { name: 'disk', when: 'true', action, ...made }));
  return {};
}

async function silence(program: Program): Promise<Given> {
  await rule(program);
  const { id } = await callLocally<{ id: string }>(program, 'silence.add', {
    rule: 'disk',
    for: '2h',
    reason: 'moved',
  });
  return { id };
}

async function check(program: Program): Promise<Given> {
  await callLocally(program, 'check.add', {
    name: 'web',
    kind: 'tcp',
    interval: '30s',
    targets: ['web1=10.0.0.5:443'],
  });
  return {};
}

async function workflow(program: Program, more = ''): Promise<Given> {
  const text = `steps:\n  - name: look\n    inventory: localhost\n    command: ["true"]\n${more}`;
  await callLocally(program, 'workflow.add', { name: 'patch', text });
  return {};
}

async function run(program: Program): Promise<Given> {
  await workflow(program);
  const { run_id: id } = await callLocally<{ run_id: string }>(program, 'workflow.run', { name: 'patch' });
  return { id };
}

async function cancelled(program: Program): Promise<Given> {
  const job = await program.queue();
  await callLocally(program, 'job.cancel', { id: job });
  return { job };
}

async function jobs({ store }: Program): Promise<number> {
  return (await store.db.selectFrom('jobs').select('id').execute()).length;
}

const QUIET: readonly Scenario[] = [
  {
    operation: 'silence.add',
    rule: 'silences a rule for a time, in the name of the owner of the token',
    given: (program) => rule(program),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/silences', body: { rule: 'disk', for: '2h', reason: 'db1 is moved' } },
    expect: { status: 200, kind: 'silence.get', data: { rule: 'disk', when: null, reason: 'db1 is moved' } },
    async afterwards({ store }) {
      const rows = await store.db.selectFrom('silences').select(['rule', 'created_by']).execute();
      assert.deepEqual(rows, [{ rule: 'disk', created_by: 'operator' }]);
    },
  },
  {
    operation: 'silence.add',
    rule: 'is not for a token that reads',
    given: (program) => rule(program),
    as: 'readonly',
    send: { method: 'POST', path: '/api/v1/silences', body: { rule: 'disk', for: '2h', reason: 'db1 is moved' } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'silence.remove',
    rule: 'ends a silence, without content',
    given: silence,
    as: 'operator',
    send: { method: 'DELETE', path: '/api/v1/silences/$id' },
    expect: { status: 204, text: /^$/ },
    async afterwards(program, { id }) {
      const again = await send(program, 'operator', { method: 'DELETE', path: `/api/v1/silences/${id ?? ''}` });
      assert.equal(again.status, 409);
      const open = await send(program, 'readonly', { method: 'GET', path: '/api/v1/silences' });
      assert.match(open.text, /"data":\[\]/);
    },
  },
  {
    operation: 'rule.disable',
    rule: 'stops a rule; a second request changes nothing',
    given: (program) => rule(program),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/rules/disk/disable' },
    expect: { status: 200, kind: 'rule.get', data: { name: 'disk', enabled: false } },
    async afterwards(program) {
      const again = await send(program, 'operator', { method: 'POST', path: '/api/v1/rules/disk/disable' });
      assert.equal(again.status, 200);
    },
  },
  {
    operation: 'rule.disable',
    rule: 'of a rule that needs approvals is a conflict elsewhere, and the rule stays',
    given: (program) => rule(program, 'required'),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/rules/disk/disable' },
    expect: { status: 409, code: 'conflict', message: /svc silence add --rule disk/ },
    async afterwards({ store }) {
      assert.deepEqual(await store.db.selectFrom('rules').select('enabled').execute(), [{ enabled: 1 }]);
    },
  },
  {
    operation: 'check.snooze',
    rule: 'suppresses the events of a check for a time',
    given: check,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/checks/web/snooze', body: { for: '2h' } },
    expect: { status: 200, kind: 'check.get', data: { name: 'web' } },
    async afterwards({ store }) {
      const [row] = await store.db.selectFrom('check_targets').select('snoozed_until').execute();
      assert.ok((row?.snoozed_until ?? 0) > Date.now());
    },
  },
  {
    operation: 'schedule.disable',
    rule: 'stops a schedule: it has no next slot',
    async given({ store }) {
      await addSchedule(store, { name: 'nightly', action: { kind: 'apply', workspace: 'net', timeout: null } });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/schedules/nightly/disable' },
    expect: { status: 200, kind: 'schedule.get', data: { name: 'nightly', enabled: false, next_at: null } },
  },
  {
    operation: 'notify.test',
    rule: 'asks for one message to all who are notified',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/notify/test' },
    expect: { status: 200, kind: 'notify.test', data: { endpoints: 0 } },
  },
];

const RUNS: readonly Scenario[] = [
  {
    operation: 'workflow.run',
    rule: 'starts a run, whose jobs are those of the caller',
    given: (program) => workflow(program),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workflows/patch/run', body: {} },
    expect: { status: 202, kind: 'workflow.status', data: { workflow: 'patch', state: 'running' } },
    async afterwards({ store }) {
      const rows = await store.db.selectFrom('jobs').select(['trigger', 'requested_by']).execute();
      assert.deepEqual(
        rows.map(({ trigger }) => trigger),
        ['workflow'],
      );
    },
  },
  {
    operation: 'workflow.run',
    rule: 'of a workflow that reaches beyond the sandbox is forbidden elsewhere, and nothing is written',
    given: (program) => workflow(program, '    privileged: true\n'),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workflows/patch/run', body: {} },
    expect: {
      status: 403,
      code: 'forbidden',
      message: /^Workflow patch reaches beyond the sandbox.*: svc workflow run patch\.$/,
    },
    afterwards: async (program) => assert.equal(await jobs(program), 0),
  },
  {
    operation: 'workflow.status',
    rule: 'shows a run with its steps',
    given: run,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/workflow-runs/$id' },
    expect: { status: 200, kind: 'workflow.status', data: { workflow: 'patch', steps: [{ name: 'look' }] } },
  },
  {
    operation: 'workflow.status',
    rule: 'of an unknown run is not found',
    as: 'readonly',
    send: { method: 'GET', path: `/api/v1/workflow-runs/${NO_RUN}` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'workflow.cancel',
    rule: 'cancels a run and its jobs',
    given: run,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workflow-runs/$id/cancel' },
    expect: { status: 200, kind: 'workflow.status', data: { state: 'cancelled' } },
    async afterwards(program, { id }) {
      const again = await send(program, 'operator', {
        method: 'POST',
        path: `/api/v1/workflow-runs/${id ?? ''}/cancel`,
      });
      assert.equal(again.status, 409);
      const [job] = await program.store.db.selectFrom('jobs').select('state').execute();
      assert.equal(job?.state, 'cancelled');
    },
  },
  {
    operation: 'workspace.drift',
    rule: 'queues a drift check',
    async given(program) {
      await makeWorkspace(program, 'net');
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workspaces/net/drift' },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards({ store }, _given, body) {
      const job = await store.db.selectFrom('jobs').select('kind').where('id', '=', jobIdOf(body)).executeTakeFirst();
      assert.equal(job?.kind, 'drift');
    },
  },
  {
    operation: 'event.trace',
    rule: 'says each step, and what the sender said',
    async given({ store }) {
      const [event] = await putEvents(store, [{ annotations: toJson({ summary: 'disk 95 % full' }) }]);
      return { id: event?.id ?? '' };
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/events/$id/trace' },
    expect: { status: 200, kind: 'event.trace', data: { annotations: { summary: 'disk 95 % full' } } },
  },
];

const REDRIVE = { method: 'POST', path: '/api/v1/jobs/redrive' } as const;

const REDRIVES: readonly Scenario[] = [
  {
    operation: 'job.redrive',
    rule: 'names its jobs: without any it queues nothing, and with one it queues that once',
    given: cancelled,
    as: 'operator',
    send: { ...REDRIVE, body: {} },
    expect: { status: 400, code: 'invalid_argument', message: /^ids: expected at least one job\.$/ },
    async afterwards(program, { job }) {
      assert.equal(await jobs(program), 1);
      const pairs = [];
      for (let sent = 0; sent < 2; sent += 1) {
        const { status, json } = await send(program, 'operator', { ...REDRIVE, body: { ids: [job] } });
        assert.equal(status, 202);
        pairs.push((json as { data: object[] }).data[0]);
      }
      assert.deepEqual(pairs[1], pairs[0]);
      assert.equal((pairs[0] as { old_job_id: string }).old_job_id, job);
      assert.equal(await jobs(program), 2);
    },
  },
  {
    operation: 'job.redrive',
    rule: 'of a job that reaches beyond the sandbox is forbidden elsewhere, and nothing is written',
    async given(program) {
      const { job = '' } = await cancelled(program);
      await rewrite(program.store, 'jobs', { privileged: 1 }, job);
      return { job };
    },
    as: 'operator',
    send: { ...REDRIVE, body: { dry_run: true } },
    expect: { status: 400, code: 'invalid_argument', message: /^ids: / },
    async afterwards(program, { job }) {
      const { status, text } = await send(program, 'operator', { ...REDRIVE, body: { ids: [job] } });
      assert.equal(status, 403);
      assert.match(text, /reaches beyond the sandbox, so it is run only on the machine itself: svc job redrive job_/);
      assert.equal(await jobs(program), 1);
    },
  },
  {
    operation: 'job.redrive',
    rule: 'of an unknown job is not found',
    as: 'operator',
    send: { ...REDRIVE, body: { ids: [NO_JOB] } },
    expect: { status: 404, code: 'not_found' },
  },
];

export const FROM_AFAR_SCENARIOS: readonly Scenario[] = [...QUIET, ...RUNS, ...REDRIVES];
