import type { OperationArea } from '../area.ts';

export const CHECKS: OperationArea = {
  nouns: {
    check: { summary: 'Watch hosts, ports, certificates, URLs, names and numbers', place: 200, help: ['watch', 0] },
  },
  load: async () => (await import('./checks.ts')).CHECK_OPERATIONS,
  audited: {
    'check.add': ['kind', 'targets'],
    'check.snooze': ['target', 'until'],
    'check.update': ['targets', 'added', 'removed'],
  },
  sections: { checks: { place: 60, load: async () => (await import('./configuration.ts')).checksSection } },
};
