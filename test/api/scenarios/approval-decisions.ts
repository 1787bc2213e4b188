import assert from 'node:assert/strict';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { auditOf, gated, LINEAGE, SERIAL } from '../../support/fixtures/approvals.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';
import { decided, stale, UNKNOWN, waiting } from './approvals.ts';

const PATH = '/api/v1/approvals/$apr/decision';

/** What a refused decision leaves: everything as it was. */
async function untouched(program: Program, { apr = '', job = '' }: Readonly<Record<string, string>>): Promise<void> {
  const row = await getApproval(program.store.db, apr);
  assert.deepEqual([row.state, row.decided_at, row.decided_by, row.reason], ['pending', null, null, null]);
  assert.equal((await getJob(program.store.db, job)).state, 'awaiting_approval');
}

export const DECISION_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'approval.decision',
    rule: 'approves: the job is queued, the queue is woken, and the answer and the audit name the decision',
    given: waiting(),
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve', reason: 'read it twice' } },
    expect: {
      status: 200,
      kind: 'approval.decision',
      data: {
        decision: 'approve',
        state: 'approved',
        job_state: 'queued',
        decided_via: 'api',
        reason: 'read it twice',
      },
    },
    async afterwards(program, { apr = '', job = '' }) {
      assert.equal((await getJob(program.store.db, job)).state, 'queued');
      assert.ok(program.wakes() > 0);
      assert.deepEqual(
        (await auditOf(program.store, apr)).map(({ operation }) => operation),
        ['approval.decision'],
      );
    },
  },
  {
    operation: 'approval.decision',
    rule: 'rejects: the job is cancelled',
    given: waiting(),
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'reject' } },
    expect: {
      status: 200,
      kind: 'approval.decision',
      data: { decision: 'reject', state: 'rejected', job_state: 'cancelled', reason: null },
    },
    async afterwards(program, { job }) {
      const { text } = await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${job}/stream` });
      assert.match(text, /event: end\ndata: \{"state":"cancelled","exit_code":null\}\n\n$/);
    },
  },
  {
    operation: 'approval.decision',
    rule: 'is not for an operator',
    given: waiting(),
    as: 'operator',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: { status: 403, code: 'forbidden' },
    afterwards: untouched,
  },
  {
    operation: 'approval.decision',
    rule: 'T30: a second decision is a conflict that tells the first',
    given: decided,
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: { status: 409, code: 'conflict', message: /is rejected already by approve-\w+ via api at 20/ },
  },
  {
    operation: 'approval.decision',
    rule: 'T30: after the deadline is a conflict, also before anybody ended the approval',
    given: waiting({ ttlMs: -1 }),
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: { status: 409, code: 'conflict', message: /expired at .* Nothing was released/ },
    afterwards: untouched,
  },
  {
    operation: 'approval.decision',
    rule: 'T21: to approve a stale plan is refused with what moved it',
    given: stale,
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: {
      status: 409,
      code: 'stale_plan',
      message: /can be rejected, or cancelled by its requester: svc job cancel job_\w+$/,
      text: new RegExp(`"stale":\\{"plan_serial":${SERIAL},"current_serial":${SERIAL + 2},"moved_by_job":"job_`),
    },
    afterwards: untouched,
  },
  {
    operation: 'approval.decision',
    rule: 'T90: a stale plan can be rejected',
    given: stale,
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'reject' } },
    expect: { status: 200, kind: 'approval.decision', data: { state: 'rejected', job_state: 'cancelled' } },
  },
  {
    operation: 'approval.decision',
    rule: 'T21: another lineage is another state, whatever its serial says',
    async given(program) {
      const given = await gated(program);
      await program.store.write(({ db }) =>
        db
          .updateTable('workspaces')
          .set({ lineage: `${LINEAGE}-2` })
          .execute(),
      );
      return given;
    },
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: { status: 409, code: 'stale_plan' },
    afterwards: untouched,
  },
  {
    operation: 'approval.decision',
    rule: 'T28: the requester cannot decide, and the attempt is audited',
    given: waiting({ requestedBy: 'approve' }),
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' } },
    expect: { status: 403, code: 'forbidden', message: /another person must decide/ },
    async afterwards(program, given) {
      await untouched(program, given);
      assert.deepEqual(
        (await auditOf(program.store, given['apr'] ?? '')).map(({ operation }) => operation),
        ['approval.refused'],
      );
    },
  },
  {
    operation: 'approval.decision',
    rule: 'a repeat with the same key answers as the first did',
    given: waiting(),
    as: 'approve',
    send: { method: 'POST', path: PATH, body: { decision: 'approve' }, headers: { 'idempotency-key': 'one' } },
    expect: { status: 200, kind: 'approval.decision' },
    async afterwards(program, { apr }, body) {
      const again = {
        method: 'POST',
        path: `/api/v1/approvals/${apr}/decision`,
        body: { decision: 'approve' },
        headers: { 'idempotency-key': 'one' },
      } as const;
      const { status, json } = await send(program, 'approve', again);
      assert.deepEqual([status, json], [200, body]);
    },
  },
  ...[
    { rule: 'needs a decision', body: {}, message: /^decision: / },
    {
      rule: 'takes approve and reject, and no other word',
      body: { decision: 'yes' },
      message: /^decision: expected one of approve, reject/,
    },
    {
      rule: 'refuses a reason that is too long',
      body: { decision: 'approve', reason: 'x'.repeat(1_001) },
      message: /^reason: expected at most 1000 characters/,
    },
    {
      rule: 'refuses a reason that no database keeps',
      body: { decision: 'approve', reason: 'a\0b' },
      message: /^reason: a NUL character/,
    },
    {
      rule: 'takes no token: the capability is made here',
      body: { decision: 'approve', token: 'x' },
      message: /token/,
    },
  ].map<Scenario>(({ rule, body, message }) => ({
    operation: 'approval.decision',
    rule,
    given: waiting(),
    as: 'approve',
    send: { method: 'POST', path: PATH, body },
    expect: { status: 400, code: 'invalid_argument', message },
    afterwards: untouched,
  })),
  {
    operation: 'approval.decision',
    rule: 'does not find an unknown approval',
    as: 'approve',
    send: { method: 'POST', path: `/api/v1/approvals/${UNKNOWN}/decision`, body: { decision: 'approve' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'job.cancel',
    rule: 'settles the approval that the job waited for',
    given: waiting(),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/cancel' },
    expect: { status: 200, kind: 'job.get', data: { state: 'cancelled' } },
    async afterwards(program, { apr = '' }) {
      const { state, reason, decided_via: via } = await getApproval(program.store.db, apr);
      assert.deepEqual([state, reason, via], ['rejected', 'the job was cancelled', 'api']);
    },
  },
];
