import type { OperationArea } from '../area.ts';

export const GATE: OperationArea = {
  nouns: { gate: { summary: 'Ask a second person for everything that runs', place: 325, help: ['secure', 4] } },
  load: async () => (await import('./gate.ts')).GATE_OPERATIONS,
  audited: { 'gate.strict': ['strict'] },
};
