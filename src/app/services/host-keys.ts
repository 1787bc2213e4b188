import { systemClock } from '../../lib/clock.ts';
import type { HostKeyScanner } from '../../operations/inventories/services.ts';
import type { GitPlace } from '../../runners/checkout/git/place.ts';
import { scanHostKeys } from '../../runners/inventories/scan-host-keys.ts';
import type { Launcher } from '../../runners/launch/launch.ts';
import { ownSearchPath } from '../search-path.ts';

/** `place` has the account of jobs where this process may become it and a daemon has made its folder. */
export function createHostKeyScanner(launcher: Launcher, place: () => Promise<GitPlace | null>): HostKeyScanner {
  return {
    async scan(target) {
      const account = (await place())?.account ?? null;
      return scanHostKeys({ launcher, clock: systemClock, searchPath: ownSearchPath(), account }, target);
    },
  };
}
