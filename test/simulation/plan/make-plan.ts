import { AREAS } from '../areas/areas.ts';
import { Chance } from '../world/chance.ts';
import type { Action, Plan } from './plan.ts';

const BAG = AREAS.flatMap(({ makers = [] }) =>
  makers.flatMap(([weight, make]) => Array.from({ length: weight }, () => make)),
);

export function makePlan(seed: number, { daemons, actions }: { daemons: number; actions: number }): Plan {
  const chance = new Chance(seed).of('plan');
  const next = (): Action => ({
    // Half of them come at once, in the middle of what is under way.
    afterMs: chance.chance(0.5) ? 0 : chance.whole(1, 6_000),
    ...chance.pick(BAG)(chance),
  });
  return { seed, daemons, actions: Array.from({ length: actions }, next), chanceKills: true };
}
