import assert from 'node:assert/strict';
import { getJob } from '../../../../src/store/jobs/jobs.ts';
import type { JobRow } from '../../../../src/store/schema/schema.ts';
import type { Program } from '../../../support/program.ts';
import { type Scenario, send } from '../../../support/scenario.ts';
import { gate } from '../../../support/fixtures/approvals.ts';
import { addRule, one, reactionOf } from '../../../support/fixtures/reaction.ts';
import { rewrite } from '../../../support/store/rewrite.ts';

const SEND = { method: 'POST', path: '/api/v1/jobs/$job/rerun' } as const;

async function ended(program: Program, some: object = {}): Promise<{ job: string }> {
  const job = await program.queue();
  await program.claim();
  await program.finish(job, { state: 'failed', exitCode: 3 });
  await rewrite(program.store, 'jobs', { owners: '["mia"]', ...some }, job);
  return { job };
}

function idOf(body: unknown): string {
  return (body as { data: { job_id: string } }).data.job_id;
}

export const RERUN_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'job.rerun',
    rule: 'queues the order again as a new job of the same runbook, whose requesters are the old ones and the caller',
    given: ended,
    as: 'operator',
    send: SEND,
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards(program, { job }, body) {
      const [old, made] = (await Promise.all([job!, idOf(body)].map((id) => getJob(program.store.db, id)))) as [
        JobRow,
        JobRow,
      ];
      assert.notEqual(made.id, job);
      const { trigger, redrive_of: redriven, rerun_of: rerun, runbook, spec, owners } = made;
      assert.deepEqual(
        { trigger, redriven, rerun, runbook, spec },
        { trigger: 'api', redriven: null, rerun: job, runbook: old.runbook, spec: old.spec },
      );
      assert.deepEqual([JSON.parse(owners)[0], JSON.parse(owners).length], ['mia', 2]);
    },
  },
  {
    operation: 'job.rerun',
    rule: 'makes one job of two requests with one key',
    given: ended,
    as: 'operator',
    send: { ...SEND, headers: { 'idempotency-key': 'once' } },
    expect: { status: 202, kind: 'job.enqueued' },
    async afterwards(program, { job }, body) {
      const path = SEND.path.replace('$job', job!);
      const again = await send(program, 'operator', { ...SEND, path, headers: { 'idempotency-key': 'once' } });
      assert.equal(idOf(again.json), idOf(body));
    },
  },
  {
    operation: 'job.rerun',
    rule: 'asks for approval again where the job needed it, also of a rule, and keeps its event',
    async given(program) {
      const reaction = reactionOf(program.store);
      await addRule(reaction, 'ask', { approval: 'required' });
      const { event } = await one(reaction);
      const job = event.job_id ?? '';
      await program.store.write(
        async ({ db }) =>
          void (await db.updateTable('jobs').set({ state: 'cancelled' }).where('id', '=', job).execute()),
      );
      return { job, event: event.id };
    },
    as: 'operator',
    send: SEND,
    expect: { status: 202, kind: 'approval.pending', data: { state: 'awaiting_approval' } },
    async afterwards(program, { job, event }, body) {
      const shown = await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${idOf(body)}` });
      const { approval_id: approval } = (body as { data: { approval_id: string } }).data;
      const { data } = shown.json as { data: Record<string, unknown> };
      assert.deepEqual(
        [data['event_id'], data['approval_id'], data['rerun_of'], data['runbook']],
        [event, approval, job, 'rule:ask'],
      );
    },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses a job of an event that is no longer stored',
    given: (program) => ended(program, { trigger: 'rule' }),
    as: 'operator',
    send: SEND,
    expect: { status: 409, code: 'conflict', message: /the event that asked for it is no longer stored/ },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses a job that has not ended',
    given: async (program) => ({ job: await program.queue() }),
    as: 'operator',
    send: SEND,
    expect: { status: 409, code: 'conflict', message: /is queued; expected one that has ended/ },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses the apply of a saved plan, which runs once',
    async given(program) {
      const { jobId: job } = await gate(program.store);
      await program.store.write(
        async ({ db }) => void (await db.updateTable('jobs').set({ state: 'failed' }).where('id', '=', job).execute()),
      );
      return { job };
    },
    as: 'operator',
    send: SEND,
    expect: { status: 409, code: 'conflict', message: /a saved plan, which runs once/ },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses a step of a workflow',
    given: (program) => ended(program, { trigger: 'workflow' }),
    as: 'operator',
    send: SEND,
    expect: { status: 409, code: 'conflict', message: /svc workflow run with --from/ },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses a run of a workspace that is no longer there',
    given: (program) => ended(program, { kind: 'destroy', workspace: 'net' }),
    as: 'operator',
    send: SEND,
    expect: { status: 409, code: 'conflict', message: /workspace net was removed/ },
  },
  {
    operation: 'job.rerun',
    rule: 'refuses what reaches beyond the sandbox from anywhere but the machine',
    given: (program) => ended(program, { privileged: 1 }),
    as: 'operator',
    send: SEND,
    expect: { status: 403, code: 'forbidden', message: /only on the machine itself: svc job rerun/ },
  },
];
