import type { OperationArea } from '../area.ts';

export const BACKUPS: OperationArea = {
  nouns: { backup: { summary: 'Back up the store, verify and restore backups', place: 120, help: ['backup', 0] } },
  load: async () => (await import('./backups.ts')).BACKUP_OPERATIONS,
  audited: {
    'backup.create': ['name'],
    'backup.made': ['job_id', 'name', 'size_bytes', 'sha256'],
    'backup.restore': ['interrupted', 'cancelled', 'approvals', 'workflow_runs', 'deliveries'],
    'backup.verify': ['whole'],
  },
};
