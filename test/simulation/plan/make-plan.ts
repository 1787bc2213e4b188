import type { Maker, SimulatedArea } from '../areas/area.ts';
import { AREAS_BY_NAME } from '../areas/areas.ts';
import { Chance, type Stream } from '../world/chance.ts';
import type { Action, Made, Plan } from './plan.ts';

export interface PlanOrder {
  readonly daemons: number;
  readonly actions: number;
  /** Names of areas that it has in any case, with all of their calls. */
  readonly with: readonly string[];
}

const FAULT_SHARE = 0.2;
/** Each area is left out of as many plans, so that what is in comes together more often. */
const ABSENT_AREAS = 0.4;
/** The same for one of its calls. */
const ABSENT_CALLS = 0.2;

type Make = Maker[1];

export function makePlan(seed: number, { daemons, actions, with: wanted }: PlanOrder): Plan {
  const chances = new Chance(seed);
  const isIn = (name: string, { rarity = 1 }: SimulatedArea): boolean =>
    wanted.includes(name) || chances.of(`area/${name}`).whole(1, rarity) === 1;
  const areas = [...AREAS_BY_NAME].filter(([name, area]) => isIn(name, area));
  const chance = chances.of('plan');
  const bags = areas.map(([name, { makers = [] }]) => {
    if (wanted.includes(name)) return weighed(makers);
    return chance.chance(ABSENT_AREAS) ? [] : weighed(makers.filter(() => !chance.chance(ABSENT_CALLS)));
  });
  const some = bags.flat();
  const calls = some.length === 0 ? areas.flatMap(([, { makers = [] }]) => weighed(makers)) : some;
  const faults = areas.flatMap(([, area]) => weighed(area.faults ?? []));
  const next = (): Action => ({
    // Half of them come at once, in the middle of what is under way.
    afterMs: chance.chance(0.5) ? 0 : chance.whole(1, 6_000),
    ...draw(chance, chance.chance(FAULT_SHARE) ? faults : calls),
  });
  const parts = areas.flatMap(([name, { rarity }]) => (rarity === undefined ? [] : [name]));
  return { seed, daemons, parts, actions: Array.from({ length: actions }, next), chanceKills: true };
}

/** Each as often as it weighs. */
function weighed(makers: readonly Maker[]): readonly Make[] {
  return makers.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));
}

function draw(chance: Stream, makes: readonly Make[]): Made {
  return chance.pick(makes)(chance);
}
