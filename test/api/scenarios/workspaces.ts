import assert from 'node:assert/strict';
import { insertSource } from '../../../src/store/sources/sources.ts';
import { type Scenario, send } from '../../support/scenario.ts';
import { audited, jobIdOf, jobsOf, LINEAGE, makeWorkspace, net, noJob } from '../../support/fixtures/workspaces.ts';
import { APPLY_SCENARIOS } from './workspace-applies.ts';

const plan = '/api/v1/workspaces/net/plan';
const destroy = '/api/v1/workspaces/net/destroy';

export const WORKSPACE_SCENARIOS: readonly Scenario[] = [
  ...APPLY_SCENARIOS,
  {
    operation: 'workspace.list',
    rule: 'shows every workspace by name, with its serial and the job that holds it, and no policy',
    async given(program) {
      await makeWorkspace(program, 'web');
      await makeWorkspace(program, 'net', { serial: 3, deny_when: 'size(plan.destroys) > 7' });
      const { json } = await send(program, 'operator', { method: 'POST', path: plan });
      await program.claim();
      return { job: jobIdOf(json) };
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/workspaces' },
    expect: {
      status: 200,
      kind: 'workspace.list',
      text: new RegExp(
        String.raw`"name":"net","source":null,"path":"\/srv\/net","serial":3,"drift":"unknown",` +
          String.raw`"drift_checked_at":null,"last_plan_job_id":null,"last_apply_job_id":null,` +
          String.raw`"locked_by":"job_[0-9a-z]{26}"\},\{"name":"web".*"serial":null.*"locked_by":null`,
      ),
    },
    expectNot: ['plan.destroys', LINEAGE],
  },
  {
    operation: 'workspace.list',
    rule: 'is an empty list where there is no workspace',
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/workspaces' },
    expect: { status: 200, kind: 'workspace.list', text: /"data":\[\]/ },
  },
  {
    operation: 'workspace.plan',
    rule: 'queues a plan under the key of the workspace; the body may be empty',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: plan },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards(program, _given, body) {
      assert.equal(program.wakes(), 1);
      const [job] = await jobsOf(program);
      assert.partialDeepStrictEqual(job, {
        id: jobIdOf(body),
        kind: 'plan',
        state: 'queued',
        runbook: 'plan:net',
        source: null,
        trigger: 'api',
        workspace: 'net',
        concurrency_key: 'workspace:net',
        plan_artifact_id: null,
      });
      assert.deepEqual(await audited(program), {
        operation: 'workspace.plan',
        target: jobIdOf(body),
        detail: { workspace: 'net' },
      });
    },
  },
  {
    operation: 'workspace.plan',
    rule: 'is 404 for an unknown workspace',
    as: 'operator',
    send: { method: 'POST', path: plan },
    expect: { status: 404, code: 'not_found', message: /workspace net/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.plan',
    rule: 'T14: takes no option for a name',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workspaces/-chdir=%2F/plan' },
    expect: { status: 400, code: 'invalid_argument', message: /^name: / },
  },
  {
    operation: 'workspace.plan',
    rule: 'T24: takes no path for a name',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/workspaces/..%2F..%2Fetc/plan' },
    expect: { status: 400, code: 'invalid_argument', message: /^name: / },
  },
  {
    operation: 'workspace.plan',
    rule: 'is 404 for an unknown secret',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: plan, body: { run_secrets: { token: 'net/token' } } },
    expect: { status: 404, code: 'not_found', message: /net\/token/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.plan',
    rule: 'T18: names the run secret whose name would steer a tool',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: plan, body: { run_secrets: { LD_PRELOAD: 'net/token' } } },
    expect: { status: 400, code: 'invalid_argument', message: /^run_secrets\.LD_PRELOAD: / },
    afterwards: noJob,
  },
  {
    operation: 'workspace.plan',
    rule: 'refuses a time that no job may take',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: plan, body: { timeout: '8d' } },
    expect: { status: 400, code: 'invalid_argument', message: /^timeout: / },
    afterwards: noJob,
  },
  {
    operation: 'workspace.plan',
    rule: 'T25: is 501 for a source that declares lifecycle hooks, and makes no job',
    async given(program) {
      const source = {
        name: 'infra',
        kind: 'dir',
        location: '/srv/infra',
        ref: null,
        commit_id: null,
        synced_at: null,
        created_at: 1,
      } as const;
      await program.store.write((tx) => insertSource(tx, source));
      await makeWorkspace(program, 'net', { source: 'infra', path: 'roots/net' });
      const looked: unknown[] = [];
      Object.assign(program.services.sources, {
        treeOf: () => Promise.resolve({ path: '/srv/infra', named: null }),
        hooksFile: (tree: unknown) => Promise.resolve(looked.push(tree) > 0 ? 'gatehouse.hooks.yaml' : null),
      });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: plan },
    expect: { status: 501, code: 'not_implemented', message: /infra.*gatehouse\.hooks\.yaml/ },
    expectNot: ['/srv/infra'],
    afterwards: noJob,
  },
  {
    operation: 'workspace.destroy',
    rule: 'T29: is queued and never gated, and the ledger says so',
    given: net({ approve_when: 'true', deny_when: 'true' }),
    as: 'operator',
    send: { method: 'POST', path: destroy, body: { timeout: '10m' } },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards(program, _given, body) {
      assert.partialDeepStrictEqual((await jobsOf(program))[0], {
        id: jobIdOf(body),
        kind: 'destroy',
        runbook: 'destroy:net',
        concurrency_key: 'workspace:net',
      });
      assert.deepEqual(await audited(program), {
        operation: 'workspace.destroy',
        target: jobIdOf(body),
        detail: { workspace: 'net', ungated: true },
      });
    },
  },
  {
    operation: 'workspace.destroy',
    rule: 'T29: is refused where the workspace is protected from it',
    given: net({ protect_destroy: 1 }),
    as: 'operator',
    send: { method: 'POST', path: destroy },
    expect: { status: 409, code: 'conflict', message: /protect/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.destroy',
    rule: 'is 404 for an unknown workspace',
    as: 'operator',
    send: { method: 'POST', path: destroy },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'workspace.destroy',
    rule: 'takes no plan',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: destroy, body: { plan: 'art_00000000000000000000000000' } },
    expect: { status: 400, code: 'invalid_argument', message: /^"plan": no such field/ },
    afterwards: noJob,
  },
];
