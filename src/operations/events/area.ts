import type { OperationArea } from '../area.ts';

export const EVENTS: OperationArea = {
  nouns: { event: { summary: 'List received events and explain their outcome', place: 150, help: ['react', 0] } },
  load: async () => (await import('./events.ts')).EVENT_OPERATIONS,
};
