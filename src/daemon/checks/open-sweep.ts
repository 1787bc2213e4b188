import { addressOfTarget } from '../../domain/checks/kinds.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { ProbeDeps } from '../../probes/deps.ts';
import { probe } from '../../probes/probe.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import { openTarget } from '../../store/checks/targets.ts';
import type { CurrentNetgroups } from '../../store/netgroups/netgroups.ts';
import type { Store } from '../../store/store.ts';
import { connects, createCanary } from './canary.ts';
import { sharedOwnership } from './shared-ownership.ts';
import { soleOwnership } from './sole-ownership.ts';
import { Sweep } from './sweep.ts';

/** What the daemon needs for its sweep, besides what its other parts need. */
export interface SweepSetup {
  /** What probes of this process work with. */
  readonly probes: () => Promise<ProbeDeps>;
  readonly netgroups: CurrentNetgroups;
  /** Of `--check-canary`: `ip:port`. */
  readonly canary: string | null;
}

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly keyring: () => Promise<Keyring>;
  readonly reaction: ReactionDeps;
  readonly instancesDir: string;
  readonly checks: SweepSetup;
  readonly self: () => string;
  readonly onError: (error: unknown) => void;
}

/** Of the probes that this process may run at a time, those of the sweep: the others are for people who ask. */
const SWEEP_SHARE = 0.75;

/** The sweep of a daemon, which begins with its first pass. */
export async function openSweep(parts: Parts): Promise<Sweep> {
  const { store, clock, keyring, reaction, instancesDir, self, onError, checks } = parts;
  const deps = await checks.probes();
  const { canary, netgroups } = checks;
  let reported: readonly string[] = [];
  return new Sweep({
    store,
    clock,
    reaction,
    self,
    onError,
    ownership:
      store.dialect.liveness === 'lease' ? sharedOwnership({ store, clock, self }) : soleOwnership(clock, instancesDir),
    canary: canary === null ? null : createCanary(clock, () => connects(clock, canary)),
    probe: async ({ kind, options, row }, signal) => {
      const target = row.credentials === null ? row.spec : openTarget(await keyring(), row);
      return probe(deps, { kind, target, options }, signal);
    },
    netgroupsNow: async () => {
      const index = await netgroups.current();
      for (const name of index.unread)
        if (!reported.includes(name)) onError(new Error(`the netgroup ${name} cannot be read and covers nothing`));
      reported = index.unread;
      return (kind, spec) => {
        const address = addressOfTarget(kind, spec);
        return address === null ? null : index.classify(address);
      };
    },
    maxRunning: Math.ceil(deps.running.limit * SWEEP_SHARE),
  });
}
