import type { OperationArea } from '../area.ts';

export const WEBHOOKS: OperationArea = {
  nouns: { webhook: { summary: 'Manage the URLs that receive alerts', place: 190, help: ['react', 2] } },
  load: async () => (await import('./webhooks.ts')).WEBHOOK_OPERATIONS,
  audited: { 'webhook.add': ['source', 'signed'] },
  sections: { webhooks: { place: 40, load: async () => (await import('./configuration.ts')).webhooksSection } },
};
