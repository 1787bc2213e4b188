import type { OperationArea } from '../area.ts';

export const SECRETS: OperationArea = {
  nouns: {
    secret: { summary: 'Store secrets for runs; their values are never shown', place: 300, help: ['secure', 0] },
    seal: { summary: 'Manage the key that encrypts all secrets', place: 310, help: ['secure', 1] },
  },
  load: async () => [
    ...(await import('./secrets.ts')).SECRET_OPERATIONS,
    ...(await import('./seal.ts')).SEAL_OPERATIONS,
  ],
  audited: {
    'seal.export': ['to'],
    'seal.rotate': ['added', 'items', 'digest', 'digest_before'],
    'secret.set': ['version'],
  },
};
