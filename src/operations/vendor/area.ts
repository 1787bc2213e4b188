import type { OperationArea } from '../area.ts';

export const VENDOR: OperationArea = {
  nouns: {
    vendor: {
      summary: 'Fetch the collections, roles and providers of a source',
      place: 280,
      help: ['infrastructure', 2],
    },
  },
  load: async () => (await import('./vendor.ts')).VENDOR_OPERATIONS,
  audited: { 'source.vendored': ['job_id', 'files', 'bytes', 'collections', 'roles', 'providers'], vendor: ['source'] },
};
