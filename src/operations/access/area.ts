import type { OperationArea } from '../area.ts';

export const ACCESS: OperationArea = {
  nouns: { token: { summary: 'Create, list and revoke tokens', place: 330, help: ['secure', 2] } },
  load: async () => (await import('./tokens.ts')).TOKEN_OPERATIONS,
  audited: { 'token.create': ['name', 'scope', 'owner'] },
};
