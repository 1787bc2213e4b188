import type { OperationArea } from '../area.ts';

export const WORKFLOWS: OperationArea = {
  nouns: { workflow: { summary: 'Run jobs in steps, with conditions and approvals', place: 100, help: ['run', 2] } },
  load: async () => (await import('./workflows.ts')).WORKFLOW_OPERATIONS,
  audited: {
    'workflow.add': ['steps', 'replace'],
    'workflow.cancel': ['workflow'],
    'workflow.end': ['workflow', 'state'],
    'workflow.refuse': ['workflow', 'reason'],
    'workflow.run': ['run_id', 'from', 'resumes'],
    'workflow.step': ['run_id', 'workflow', 'step', 'approval_id', 'ungated'],
  },
  sections: { workflows: { place: 70, load: async () => (await import('./configuration.ts')).workflowsSection } },
};
