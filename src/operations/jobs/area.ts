import type { OperationArea } from '../area.ts';

export const JOBS: OperationArea = {
  nouns: { job: { summary: 'List, show, follow, cancel and redrive jobs', place: 110, help: ['follow', 1] } },
  ids: ['maintenance.interrupted'],
  load: async () => [
    ...(await import('./jobs.ts')).JOB_OPERATIONS,
    ...(await import('./redrive.ts')).REDRIVE_OPERATIONS,
    ...(await import('./rerun.ts')).RERUN_OPERATIONS,
  ],
  audited: {
    'job.end': ['state', 'exit_code', 'by'],
    'job.order': [],
    'job.redrive': ['state', 'dry_run', 'jobs'],
    'job.redriven': ['redrive_of', 'ungated'],
    'job.refuse': ['code'],
    'job.rerun': ['rerun_of', 'ungated'],
  },
};
