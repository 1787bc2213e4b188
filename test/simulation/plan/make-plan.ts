import { AREAS } from '../areas/areas.ts';
import { Chance, type Stream } from '../world/chance.ts';
import type { Maker } from '../areas/area.ts';
import type { Action, Made, Plan } from './plan.ts';

const FAULT_SHARE = 0.2;
/** Each maker is left out of as many plans, so that those that are in come together more often. */
const ABSENT_SHARE = 0.4;

export function makePlan(seed: number, { daemons, actions }: { daemons: number; actions: number }): Plan {
  const chances = new Chance(seed);
  const chance = chances.of('plan');
  const areas = AREAS.filter(({ part }) => part === undefined || chances.of(part.calls).whole(1, part.of) === 1);
  const calls = drawBag(
    areas.flatMap(({ makers = [] }) => makers),
    chance,
  );
  const faults = drawBag(
    areas.flatMap((area) => area.faults ?? []),
    chance,
  );
  const next = (): Action => ({
    // Half of them come at once, in the middle of what is under way.
    afterMs: chance.chance(0.5) ? 0 : chance.whole(1, 6_000),
    ...chance.pick(chance.chance(FAULT_SHARE) ? faults : calls)(chance),
  });
  return { seed, daemons, actions: Array.from({ length: actions }, next), chanceKills: true };
}

/** Some of the makers, each as often as it weighs; never none. */
function drawBag(makers: readonly Maker[], chance: Stream): readonly ((chance: Stream) => Made)[] {
  const kept = makers.filter(() => !chance.chance(ABSENT_SHARE));
  return (kept.length === 0 ? makers : kept).flatMap(([weight, make]) => Array.from({ length: weight }, () => make));
}
