import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Projected } from '../../src/views/views.ts';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

const AT = '2026-11-21T12:00:00.000Z';
const PAGE: Display = { nowMs: Date.parse(AT), color: false, width: null };
const [APPROVAL, JOB, PLAN] = ['apr', 'job', 'art'].map((kind) => `${kind}_01m7yd4zyke00anp2z332d2j5p`) as [
  string,
  string,
  string,
];

const PENDING: Projected<'approval.get'> = {
  id: APPROVAL,
  job_id: JOB,
  kind: 'apply',
  state: 'pending',
  policy: 'require_approval',
  workspace: 'net',
  runbook: 'apply:net',
  plan_artifact_id: PLAN,
  requested_by: 'ana',
  created_at: '2026-11-21T11:36:00.000Z',
  expires_at: '2026-11-21T12:24:00.000Z',
  decided_at: null,
  decided_by: null,
  decided_via: null,
  reason: null,
  provenance: { origin: 'manual' },
  summary: '1 to destroy, 0 to change, 0 to create',
};

test('a pending request shows its deadline, who can decide, and how to see, watch and follow it', () => {
  const data = {
    approval_id: APPROVAL,
    job_id: JOB,
    state: 'awaiting_approval',
    expires_at: PENDING.expires_at,
    ttl_seconds: 1440,
    policy: 'require_approval',
    plan_artifact_id: PLAN,
  };
  assert.equal(
    render('approval.pending', data, PAGE),
    `◆ Waiting for approval ${APPROVAL} (policy require_approval), until ${PENDING.expires_at} (in 24m). ` +
      `Exit 0: the request was accepted.
  Who can decide: any token with scope approve, except those of the requesters. Undecided, it expires.
  See it:  svc approval plan ${APPROVAL}
  Watch:   svc approval watch
  Then:    svc job tail ${JOB}
`,
  );
});

test('proposed commands use the same server', () => {
  const display = { ...PAGE, place: ' --remote http://h' };
  assert.ok(
    render('approval.get', PENDING, display).includes(`svc approval approve ${APPROVAL} --remote http://h, or `),
  );
  assert.ok(
    render('job.enqueued', { job_id: JOB, state: 'queued' }, display).endsWith(
      `svc job tail ${JOB} --remote http://h\n`,
    ),
  );
});

test('a pending approval says how to see its plan and how to decide', () => {
  const text = render('approval.get', PENDING, PAGE);
  assert.match(text, /^State +pending$/m);
  assert.match(text, /^Summary +1 to destroy, 0 to change, 0 to create$/m);
  assert.match(text, /^Expires +2026-11-21T12:24:00\.000Z \(in 24m\)$/m);
  assert.ok(
    text.endsWith(
      `See its plan: svc approval plan ${APPROVAL}\nDecide: svc approval approve ${APPROVAL}, ` +
        `or svc approval reject ${APPROVAL}\n`,
    ),
  );
});

test('a stale approval says who moved the state and what to do, and does not propose to approve', () => {
  const stale = {
    plan_serial: 42,
    current_serial: 43,
    moved_by_job: JOB,
    moved_via: 'api',
    moved_at: '2026-11-21T11:50:00.000Z',
  };
  const text = render('approval.get', { ...PENDING, stale }, PAGE);
  assert.match(
    text,
    new RegExp(
      `^Stale +The plan was made from serial 42; the state was changed to serial 43 by job ${JOB} ` +
        `via api \\(10m ago\\)\\.$`,
      'm',
    ),
  );
  assert.match(
    text,
    /\nIt can no longer be approved\. .* plan: svc workspace plan net\nEnd the request: svc job cancel job_\w+\n$/,
  );
  assert.doesNotMatch(text, /svc approval approve/);
  const outside = render('approval.get', { ...PENDING, stale: { plan_serial: 42, current_serial: 43 } }, PAGE);
  assert.match(outside, /changed to serial 43 from outside this service\.$/m);
});

test('a settled approval says who decided, from where and why', () => {
  const decided = {
    ...PENDING,
    state: 'rejected',
    decided_at: '2026-11-21T11:59:00.000Z',
    decided_by: 'ben',
    decided_via: 'link',
    reason: 'not on a Friday',
  };
  const text = render('approval.get', decided, PAGE);
  assert.match(text, /^Decided +2026-11-21T11:59:00\.000Z \(1m ago\), by ben via link$/m);
  assert.match(text, /^Reason +not on a Friday$/m);
  assert.doesNotMatch(text, /svc approval/);
  assert.match(
    render('approval.list', [decided, PENDING], PAGE),
    /^rejected .* 1m ago, by ben via link .*\npending .* in 24m/m,
  );
});

test('a decision says what becomes of the job', () => {
  const data = {
    approval_id: APPROVAL,
    job_id: JOB,
    decision: 'approve',
    state: 'approved',
    job_state: 'queued',
    decided_at: AT,
    decided_by: 'ben',
    decided_via: 'api',
    reason: null,
  };
  assert.equal(
    render('approval.decision', data, PAGE),
    `Approved: ${APPROVAL}. Job ${JOB} is queued.\nFollow it with: svc job tail ${JOB}\n`,
  );
  const no = { ...data, decision: 'reject', state: 'rejected', job_state: 'cancelled' };
  assert.equal(render('approval.decision', no, PAGE), `Rejected: ${APPROVAL}. Job ${JOB} is cancelled.\n`);
});

test('links are shown with a warning that they are shown only now', () => {
  const data = {
    approval_id: APPROVAL,
    recipient: 'ben',
    approve: 'http://h/approve?token=a',
    reject: 'http://h/reject?token=b',
    expires_at: PENDING.expires_at,
  };
  const text = render('approval.link', data, PAGE);
  assert.match(text, /shown only now\./);
  assert.match(text, /^Approve: http:\/\/h\/approve\?token=a$/m);
});
