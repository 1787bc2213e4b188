import type { OperationArea } from '../area.ts';

export const NOTIFY: OperationArea = {
  nouns: { notify: { summary: 'Manage push endpoints; send a test notification', place: 240, help: ['silence', 2] } },
  ids: ['job.notify'],
  load: async () => (await import('./notify.ts')).NOTIFY_OPERATIONS,
  audited: { 'notify.endpoint.add': ['owner'] },
};
