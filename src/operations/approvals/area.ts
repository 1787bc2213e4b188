import type { OperationArea } from '../area.ts';

export const APPROVALS: OperationArea = {
  nouns: { approval: { summary: 'List, show and decide approvals', place: 70, help: ['follow', 2] } },
  load: async () => [
    ...(await import('./approvals.ts')).APPROVAL_OPERATIONS,
    ...(await import('./approval-links.ts')).APPROVAL_LINK_OPERATIONS,
  ],
  audited: {
    'approval.decision': ['decision'],
    'approval.expire': ['job_id', 'job_cancelled'],
    'approval.link': ['recipient'],
    'approval.order': [],
    'approval.refused': ['decision'],
  },
};
