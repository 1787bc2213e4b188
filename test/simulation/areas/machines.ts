import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

/** From a correction of the clock to a machine that was an hour wrong. */
const JUMPS_MS = [-90_000, -1_000, 1_000, 30_000, 3_600_000];

/** In one of four, all that the commit has written is there, and only its answer is lost. */
function power(chance: Stream): Made {
  return { do: 'power', there: Math.min(1, chance.next() * 1.33), backMs: chance.whole(0, 8_000) };
}

export const MACHINES: SimulatedArea = {
  faults: [
    [2, (chance) => ({ do: 'kill', host: chance.next(), backMs: chance.whole(0, 8_000) })],
    [2, (chance) => ({ do: 'terminate', host: chance.next(), backMs: chance.whole(0, 8_000) })],
    [1, power],
    [1, (chance) => ({ do: 'stop', host: chance.next(), forMs: chance.whole(10, 20_000) })],
    [1, (chance) => ({ do: 'disk', fault: chance.pick(['full', 'broken'] as const), forMs: chance.whole(10, 5_000) })],
    [1, (chance) => ({ do: 'jump', byMs: chance.pick(JUMPS_MS) })],
  ],
};
