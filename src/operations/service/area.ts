import type { OperationArea } from '../area.ts';

export const SERVICE: OperationArea = {
  nouns: {
    doctor: { summary: 'Check each part of the installation', place: 30, help: ['service', 0] },
    whoami: { summary: 'Show the identity of the caller and the server', place: 40, help: ['service', 3] },
  },
  ids: ['openapi'],
  load: async ({ loadAll }) => [
    ...(await import('./service.ts')).SERVICE_OPERATIONS,
    (await import('../openapi.ts')).openapiOperation(loadAll),
  ],
};
