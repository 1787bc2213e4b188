import type { OperationArea } from '../area.ts';

export const DEADMAN: OperationArea = {
  nouns: { deadman: { summary: 'Notify when a webhook receives nothing', place: 250, help: ['silence', 3] } },
  load: async () => (await import('./deadman.ts')).DEADMAN_OPERATIONS,
  audited: { 'deadman.add': ['webhook', 'every'], 'deadman.heard': ['webhook'], 'deadman.silent': ['webhook'] },
};
