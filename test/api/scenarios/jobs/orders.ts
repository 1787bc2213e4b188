import { gated } from '../../../support/fixtures/approvals.ts';
import type { Scenario } from '../../../support/scenario.ts';

const OF_APPROVAL = { method: 'GET', path: '/api/v1/approvals/$apr/order' } as const;
const OF_JOB = { method: 'GET', path: '/api/v1/jobs/$job/order' } as const;
const UNKNOWN = '00000000000000000000000000';

export const ORDER_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'approval.order',
    rule: 'shows what is to be approved to who may see its plan',
    given: gated,
    as: 'approve',
    send: OF_APPROVAL,
    expect: { status: 200, kind: 'order', data: { kind: 'apply', hosts: null, command: null, privileged: false } },
  },
  {
    operation: 'approval.order',
    rule: 'is not for readonly',
    given: gated,
    as: 'readonly',
    send: OF_APPROVAL,
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'approval.order',
    rule: 'is not found for an unknown approval',
    as: 'operator',
    send: { ...OF_APPROVAL, path: `/api/v1/approvals/apr_${UNKNOWN}/order` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'job.order',
    rule: 'shows what a job ordered, in any state',
    given: gated,
    as: 'operator',
    send: OF_JOB,
    expect: { status: 200, kind: 'order', data: { kind: 'apply', changes: null } },
  },
  {
    operation: 'job.order',
    rule: 'is not for readonly',
    given: gated,
    as: 'readonly',
    send: OF_JOB,
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'job.order',
    rule: 'is not found for an unknown job',
    as: 'operator',
    send: { ...OF_JOB, path: `/api/v1/jobs/job_${UNKNOWN}/order` },
    expect: { status: 404, code: 'not_found' },
  },
];
