import { call, some } from '../../plan/make.ts';
import type { Browsing, Made } from '../../plan/plan.ts';
import type { Stream } from '../../world/chance.ts';
import type { SimulatedArea } from '../area.ts';

const DOES: readonly Browsing[] = ['sign-in', 'sign-in', 'look', 'look', 'look', 'approve', 'reject', 'sign-out'];

/** Of people who asked, and of others. */
function create(chance: Stream): Made {
  const expires = chance.chance(0.3) ? { expires: chance.pick(['3s', '15s', '60s']) } : {};
  const scope = chance.pick(['operator', 'approve', 'readonly']);
  const [owner, name] = [chance.pick(['dan', 'dan', 'olga', 'nora']), `browser-${chance.whole(0, 1e6)}`];
  return call('local', 'token.create', { name, owner, scope, ...expires });
}

/** The console: people sign in, decide and sign out. */
export const SESSIONS: SimulatedArea = {
  rarity: 2,
  makers: [
    [3, create],
    [1, (chance) => call('local', 'token.revoke', { token: some(chance, 'token') })],
    [9, (chance) => ({ do: 'browse', at: chance.next(), what: chance.pick(DOES) })],
  ],
};
