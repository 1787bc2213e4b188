import type { OperationArea } from '../area.ts';

export const SCHEDULES: OperationArea = {
  nouns: { schedule: { summary: 'Run jobs at regular times', place: 220, help: ['react', 3] } },
  load: async () => [
    ...(await import('./schedules.ts')).SCHEDULE_OPERATIONS,
    ...(await import('./agenda.ts')).AGENDA_OPERATIONS,
  ],
  audited: {
    'schedule.add': ['runbook', 'approval', 'replace', 'privileged', 'writable'],
    'schedule.move': ['next_at'],
    'schedule.refuse': ['slot', 'code'],
    'schedule.run': ['slot', 'job_id', 'ungated', 'approval_id'],
  },
  sections: { schedules: { place: 90, load: async () => (await import('./configuration.ts')).schedulesSection } },
};
