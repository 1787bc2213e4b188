import { LEFTOVER_MS } from '../../runners/checkout/erase.ts';
import { KeptInits } from '../../runners/terraform/init/kept-inits.ts';
import { listWorkspaces } from '../../store/workspaces/workspaces.ts';
import type { MakeLoop } from '../core/loop.ts';
import type { RunDeps } from '../jobs/run-support.ts';
import type { Clock } from '../../lib/clock.ts';

interface KeptInitsDeps extends Pick<RunDeps, 'store' | 'keptInitsDir'> {
  readonly clock: Clock;
}

/**
 * Removes what is kept of workspaces that were removed, and what a crash left. The command line that removes one may
 * have fewer rights, other settings, or run on another machine.
 */
export const keptInitsLoop: MakeLoop<KeptInitsDeps> = ({ store, keptInitsDir, clock }) => ({
  name: 'kept-inits',
  everyMs: LEFTOVER_MS,
  wakeOn: [],
  async once() {
    await new KeptInits(keptInitsDir, clock).keepOnly(async () =>
      (await listWorkspaces(store.db)).map(({ name }) => name),
    );
  },
});
