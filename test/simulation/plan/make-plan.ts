import { AREAS } from '../areas/areas.ts';
import { Chance } from '../world/chance.ts';
import type { Action, Plan } from './plan.ts';

export function makePlan(seed: number, { daemons, actions }: { daemons: number; actions: number }): Plan {
  const chances = new Chance(seed);
  const chance = chances.of('plan');
  const areas = AREAS.filter(({ part }) => part === undefined || chances.of(part.calls).whole(1, part.of) === 1);
  const bag = areas.flatMap(({ makers = [] }) =>
    makers.flatMap(([weight, make]) => Array.from({ length: weight }, () => make)),
  );
  const next = (): Action => ({
    // Half of them come at once, in the middle of what is under way.
    afterMs: chance.chance(0.5) ? 0 : chance.whole(1, 6_000),
    ...chance.pick(bag)(chance),
  });
  return { seed, daemons, actions: Array.from({ length: actions }, next), chanceKills: true };
}
