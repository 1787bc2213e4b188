import { call, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

/** Of few, so that some are of one token after the other, and some are refused. */
const nameOf = (chance: Stream): string => `token-${chance.whole(0, 9)}`;

function create(chance: Stream): Made {
  const expires = chance.chance(0.4) ? { expires: chance.pick(['3s', '15s']) } : {};
  return call('local', 'token.create', {
    name: nameOf(chance),
    scope: chance.pick(['readonly', 'operator']),
    ...expires,
  });
}

export const TOKENS: SimulatedArea = {
  makers: [
    [2, create],
    [1, (chance) => call('local', 'token.revoke', { token: some(chance, 'token') })],
    [1, (chance) => call('local', 'token.revoke', { token: nameOf(chance) })],
    [5, (chance) => ({ do: 'enter', at: chance.next() })],
  ],
  picks: { token: 'tokens' },
};
