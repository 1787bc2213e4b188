import type { OperationArea } from '../area.ts';

export const AUDIT: OperationArea = {
  nouns: { audit: { summary: 'Show the audit ledger', place: 320, help: ['secure', 3] } },
  load: async ({ audited }) => (await import('./audit.ts')).auditOperations(audited),
  audited: {
    'ledger.key': ['seams', 'tagged_jobs', 'adopted'],
    'ledger.seam': ['rows'],
    'invariant.broken': ['facts'],
  },
};
