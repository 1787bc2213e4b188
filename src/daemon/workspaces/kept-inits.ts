import { LEFTOVER_MS } from '../../runners/checkout/erase.ts';
import { KeptInits, keptInitsDir } from '../../runners/terraform/init/kept-inits.ts';
import { listWorkspaces } from '../../store/workspaces/workspaces.ts';
import type { MakeLoop } from '../core/loop.ts';
import type { RunDeps } from '../jobs/run-support.ts';

/**
 * Removes what is kept of workspaces that were removed, and what a crash left. The command line that removes one may
 * have fewer rights, other settings, or run on another machine.
 */
export const keptInitsLoop: MakeLoop<Pick<RunDeps, 'store' | 'runsDir' | 'clock'>> = ({ store, runsDir, clock }) => ({
  name: 'kept-inits',
  everyMs: LEFTOVER_MS,
  wakeOn: [],
  async once() {
    await new KeptInits(keptInitsDir(runsDir), clock).keepOnly(async () =>
      (await listWorkspaces(store.db)).map(({ name }) => name),
    );
  },
});
