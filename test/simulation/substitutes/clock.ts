import { type Clock, systemClock as real } from '../../../src/lib/clock.ts';
import { running, theWorld } from '../world/current.ts';

export { CLOCKS_APART_MS, holdProcess, localTime, pause, rfc3339 } from '../../../src/lib/clock.ts';
export type { Clock } from '../../../src/lib/clock.ts';

const here = (): Clock => (running() === null ? real : theWorld().clock());

/** That of the machine of the daemon whose code runs. */
export const systemClock: Clock = {
  now: () => here().now(),
  monotonic: () => here().monotonic(),
  after: (ms, fire) => here().after(ms, fire),
};
