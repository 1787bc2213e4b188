import type { OperationArea } from '../area.ts';

export const MAINTENANCE: OperationArea = {
  nouns: {
    node: { summary: 'List the daemons of the service', place: 130, help: ['service', 2] },
    maintenance: { summary: 'Prepare a reboot: cordon, uncordon, readiness', place: 140, help: ['follow', 3] },
  },
  load: async () => [
    ...(await import('./maintenance.ts')).MAINTENANCE_OPERATIONS,
    ...(await import('./restart.ts')).RESTART_OPERATIONS,
    ...(await import('./nodes.ts')).NODE_OPERATIONS,
  ],
  audited: { 'clock.correct': ['rows'], 'data_dir.modes': ['entries', 'jobs'] },
};
