import type { OperationArea } from '../area.ts';

export const PLAYBOOKS: OperationArea = {
  nouns: { playbook: { summary: 'Run an Ansible playbook as a job', place: 90, help: ['run', 1] } },
  load: async () => [
    ...(await import('./playbooks.ts')).PLAYBOOK_OPERATIONS,
    ...(await import('./playbook-hosts.ts')).PLAYBOOK_HOST_OPERATIONS,
  ],
  audited: {
    'playbook.run': [
      'playbook',
      'source',
      'inventory',
      'limit',
      'hosts',
      'host_count',
      'tags',
      'skip_tags',
      'check',
      'privileged',
      'writable',
    ],
  },
};
