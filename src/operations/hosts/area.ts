import type { OperationArea } from '../area.ts';

export const HOSTS: OperationArea = {
  nouns: {},
  ids: ['host.request'],
  load: async () => (await import('./host-requests.ts')).HOST_REQUEST_OPERATIONS,
  audited: { 'host.request': ['outcome', 'job'] },
};
