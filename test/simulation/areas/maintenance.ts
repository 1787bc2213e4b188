import { call } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

function ofNode(operation: string): (chance: Stream) => Made {
  return (chance) => call('operator', `maintenance.${operation}`, { node: chance.pick(['d0', 'd1']) });
}

/** One daemon is cordoned, drained and started again, while the others work. */
export const RESTARTS: SimulatedArea = {
  makers: [
    [2, (chance) => ({ do: 'install', host: chance.next(), force: chance.chance(0.3) })],
    [1, ofNode('cordon')],
    [1, ofNode('uncordon')],
  ],
  unfinished: { restarts: "state in ('requested', 'draining', 'executing')" },
  atRest: [
    {
      rule: 'R5',
      sql: `select node, state from restarts where state in ('requested', 'draining', 'executing')
        or (state = 'idle' and cordoned = 1)`,
      words: ({ node, state }) => `the restart of ${String(node)} is ${String(state)}, or its cordon is left`,
    },
  ],
};

export const CORDON: SimulatedArea = {
  makers: [
    [1, () => call('local', 'maintenance.cordon', {})],
    [1, () => call('local', 'maintenance.uncordon', {})],
  ],
};
