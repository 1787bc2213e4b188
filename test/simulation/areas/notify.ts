import type { SimulatedArea } from './area.ts';

export const NOTIFY: SimulatedArea = {
  unfinished: { pages: "state in ('new', 'sending')" },
  atRest: [
    {
      rule: 'N1',
      sql: "select topic, state from pages where state in ('new', 'sending')",
      words: ({ topic, state }) => `the notification of ${String(topic)} is ${String(state)}`,
    },
  ],
};
