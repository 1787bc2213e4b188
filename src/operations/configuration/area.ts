import type { OperationArea } from '../area.ts';

export const CONFIGURATION: OperationArea = {
  nouns: { config: { summary: 'Keep rules, checks and other objects in a file', place: 230, help: ['configure', 0] } },
  load: async ({ loadOperation, loadSections }) =>
    (await import('./configuration.ts')).configOperations(loadOperation, loadSections),
  audited: { 'config.apply': ['added', 'changed', 'removed', 'managed', 'job_id', 'approval_id'] },
};
