import assert from 'node:assert/strict';
import { newId } from '../../../src/lib/id.ts';
import { consume } from '../../../src/store/workspaces/artifacts.ts';
import { moveWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { type Scenario, send } from '../../support/scenario.ts';
import {
  audited,
  jobIdOf,
  jobsOf,
  LINEAGE,
  makePlan,
  makeWorkspace,
  net,
  noJob,
} from '../../support/fixtures/workspaces.ts';

const plan = '/api/v1/workspaces/net/plan';
const apply = '/api/v1/workspaces/net/apply';
const destroy = '/api/v1/workspaces/net/destroy';
const PLAN = 'art_00000000000000000000000001';
const withPlan = { plan: PLAN };

/** A workspace and a saved plan of it. */
function saved(
  verdict: Parameters<typeof makePlan>[2],
  some: Parameters<typeof makePlan>[3] = {},
): NonNullable<Scenario['given']> {
  return async (program) => {
    await makeWorkspace(program, 'net', { serial: 3 });
    await makePlan(program, 'net', verdict, { id: PLAN, ...some });
    return {};
  };
}

/** The contract's table of moves, and what decisions add to it, row by row. */
export const APPLY_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'workspace.apply',
    rule: 'T29: without a plan makes its own and needs no approval, and the ledger records that as ungated',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: apply, body: {} },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    expectNot: ['ungated'],
    async afterwards(program, _given, body) {
      assert.deepEqual(await audited(program), {
        operation: 'workspace.apply',
        target: jobIdOf(body),
        detail: { workspace: 'net', ungated: true },
      });
    },
  },
  {
    operation: 'workspace.apply',
    rule: 'T29: is refused without a plan where the workspace wants a saved one',
    given: net({ require_saved_plan: 1 }),
    as: 'operator',
    send: { method: 'POST', path: apply },
    expect: { status: 409, code: 'conflict', message: /saved plan/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan whose verdict is clean is queued',
    given: saved('clean'),
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards(program, _given, body) {
      assert.partialDeepStrictEqual((await jobsOf(program))[0], {
        id: jobIdOf(body),
        kind: 'apply',
        runbook: 'apply:net',
        plan_artifact_id: PLAN,
      });
      assert.deepEqual(await audited(program), {
        operation: 'workspace.apply',
        target: jobIdOf(body),
        detail: { workspace: 'net', plan: PLAN },
      });
    },
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan is queued also where the workspace wants a saved one',
    async given(program) {
      await makeWorkspace(program, 'net', { serial: 3, require_saved_plan: 1 });
      await makePlan(program, 'net', 'clean', { id: PLAN });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 202, kind: 'job.enqueued' },
  },
  {
    operation: 'workspace.apply',
    rule: 'T21: of a saved plan that requires approval waits, and the approval names the digest and serial of it',
    given: saved('require_approval', { digest: 'exactly-this' }),
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: {
      status: 202,
      kind: 'approval.pending',
      data: { state: 'awaiting_approval', ttl_seconds: 3600, policy: 'require_approval' },
    },
    async afterwards(program, _given, body) {
      const { data } = body as { data: Record<string, string> };
      const fields = 'approval_id job_id state expires_at ttl_seconds policy plan_artifact_id';
      assert.equal(Object.keys(data).join(' '), fields);
      assert.equal(data['plan_artifact_id'], PLAN);
      const row = await program.store.db.selectFrom('approvals').selectAll().executeTakeFirstOrThrow();
      assert.partialDeepStrictEqual(row, {
        id: data['approval_id'],
        job_id: jobIdOf(body),
        state: 'pending',
        plan_digest: 'exactly-this',
        plan_serial: 3,
        owners: '["operator"]',
        origin: 'manual',
      });
      const [job] = await jobsOf(program);
      assert.partialDeepStrictEqual(job, {
        state: 'awaiting_approval',
        expires_at: data['expires_at'],
        plan_artifact_id: PLAN,
      });
    },
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan that policy denies makes no job',
    given: saved('deny'),
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'conflict', message: /the test says deny/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan without a verdict says what to do',
    given: saved(null),
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'conflict', message: /new plan/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan that the workspace moved past tells who moved it',
    async given(program) {
      await saved('clean')(program);
      const mover = newId('job', Date.now());
      await program.store.write((tx) =>
        moveWorkspace(tx, 'net', { serial: 5, lineage: LINEAGE, byJob: mover, via: 'api' }),
      );
      return { mover };
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: {
      status: 409,
      code: 'stale_plan',
      text: new RegExp(
        String.raw`"stale":\{"plan_serial":3,"current_serial":5,"moved_by_job":"job_[0-9a-z]{26}",` +
          String.raw`"moved_via":"api","moved_at":"[^"]+Z"\}`,
      ),
    },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan whose workspace has another state at the same serial is stale; an unknown mover is left out',
    async given(program) {
      await saved('clean')(program);
      await program.store.write((tx) =>
        moveWorkspace(tx, 'net', { serial: 3, lineage: 'another', byJob: null, via: null }),
      );
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'stale_plan', text: /"stale":\{"plan_serial":3,"current_serial":3\}/ },
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan that ran before is refused: a plan runs once',
    async given(program) {
      await saved('clean')(program);
      await program.store.write((tx) => consume(tx, PLAN, 'job_before'));
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'conflict', message: /once.*job_before/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan that somebody is asked about already names that approval',
    async given(program) {
      await saved('require_approval')(program);
      const { json } = await send(program, 'operator', { method: 'POST', path: apply, body: withPlan });
      return { apr: (json as { data: { approval_id: string } }).data.approval_id };
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'conflict', message: /apr_[0-9a-z]{26}/ },
    afterwards: async (program) => assert.equal((await jobsOf(program)).length, 1),
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan cannot wait: the job that holds the workspace is named',
    async given(program) {
      await saved('clean')(program);
      const { json } = await send(program, 'operator', { method: 'POST', path: destroy });
      return { holder: jobIdOf(json) };
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 409, code: 'concurrency_held', message: /job_[0-9a-z]{26}/ },
    async afterwards(program, { holder }, body) {
      assert.match((body as { error: { message: string } }).error.message, new RegExp(holder!));
      assert.equal((await jobsOf(program)).length, 1);
    },
  },
  {
    operation: 'workspace.apply',
    rule: 'without a plan waits in the queue behind who holds the workspace',
    async given(program) {
      await net()(program);
      await send(program, 'operator', { method: 'POST', path: apply });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards(program) {
      const rows = await program.store.db.selectFrom('jobs').select('blocked').orderBy('id').execute();
      assert.deepEqual(
        rows.map(({ blocked }) => blocked),
        [0, 1],
      );
    },
  },
  {
    operation: 'workspace.apply',
    rule: 'of a saved plan is queued behind a plan run, which changes nothing',
    async given(program) {
      await saved('clean')(program);
      await send(program, 'operator', { method: 'POST', path: plan });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 202, kind: 'job.enqueued' },
  },
  {
    operation: 'workspace.apply',
    rule: 'is 404 for an unknown plan',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: apply, body: { plan: 'art_00000000000000000000000000' } },
    expect: { status: 404, code: 'not_found', message: /art_0{26}/ },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'is 404 for the plan of another workspace',
    async given(program) {
      await makeWorkspace(program, 'net', { serial: 3 });
      await makeWorkspace(program, 'web', { serial: 3 });
      await makePlan(program, 'web', 'clean', { id: PLAN });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: apply, body: withPlan },
    expect: { status: 404, code: 'not_found' },
    afterwards: noJob,
  },
  {
    operation: 'workspace.apply',
    rule: 'T14: takes no option for a plan',
    given: net(),
    as: 'operator',
    send: { method: 'POST', path: apply, body: { plan: '--help' } },
    expect: { status: 400, code: 'invalid_argument', message: /^plan: / },
  },
  {
    operation: 'workspace.apply',
    rule: 'is not for a token that decides',
    given: net(),
    as: 'approve',
    send: { method: 'POST', path: apply },
    expect: { status: 403, code: 'forbidden' },
    afterwards: noJob,
  },
];
