import type { Clock } from '../lib/clock.ts';
import type { endTree } from '../runners/process/tree.ts';
import type { RunKit } from '../runners/run.ts';
import type { Store } from '../store/store.ts';
import { takeIdentity, type Identity, type IdentityOptions, type Machine } from './identity.ts';
import { renewEveryMs, renewOnce } from './lease.ts';
import { startLoop, type Loop } from './loop.ts';
import { RESCUE_EVERY_MS, rescueOnce } from './rescue.ts';
import type { Signals } from './signals.ts';
import { Work } from './work.ts';

export interface DaemonOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly kit: RunKit;
  readonly machine: Machine;
  readonly version: string;
  readonly instancesDir: string;
  readonly maxJobs: number;
  readonly leaseMs: number;
  readonly endTree: typeof endTree;
  readonly announceJob: (jobId: string) => void;
  readonly announceAll: () => void;
  readonly signals: Signals;
}

export interface Daemon {
  /** A job may be claimable, a cancel was asked, the cordon was lifted. */
  wake(): void;
  readonly id: string;
  /** Stops claiming, ends the running jobs as `interrupted`, and leaves in order. */
  stop(): Promise<void>;
}

/** The fallback where no wake-up arrives, in milliseconds. */
const CLAIM_EVERY_MS = 1_000;
const CANCEL_EVERY_MS = 1_000;

/** Starts the passes. Orphans of daemons that died are looked for before the first claim of this one. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { store, clock, signals } = options;
  let identity = await takeIdentity(identityOptions(options));
  const self = (): string => identity.id;
  const work = new Work({ ...options, self });
  const rescueDeps = { ...options, runsDir: options.kit.runsDir, self };
  const onError = (name: string, error: unknown): void => void signals.emit('loop:failed', { name, error });
  const loop = (name: string, everyMs: number, sweepOnce: (signal: AbortSignal) => Promise<void>): Loop =>
    startLoop({ name, clock, everyMs, sweepOnce, onError });

  const rescue = loop('rescue', RESCUE_EVERY_MS, (signal) => rescueOnce(rescueDeps, signal));
  const claims = loop('claim', CLAIM_EVERY_MS, () => work.claimOnce());
  const cancels = loop('cancel', CANCEL_EVERY_MS, () => work.cancelOnce());
  const onLost = async (): Promise<void> => {
    signals.emit('lease:lost', { daemonId: identity.id });
    await work.stopAll('lease-lost');
    identity = await takeIdentity(identityOptions(options));
  };
  const lease = store.dialect.liveness === 'lease' ? leaseLoop(options, loop, self, onLost) : null;
  const wake = (): void => {
    claims.wake();
    cancels.wake();
  };
  signals.on('job:finished', wake);
  signals.on('job:rescued', wake);
  const forget = store.onForeignCommit(() => {
    wake();
    options.announceAll();
  });
  return {
    wake,
    get id() {
      return identity.id;
    },
    stop: () => stopInOrder({ forget, loops: [rescue, claims, cancels], work, lease, identity: () => identity }),
  };
}

function identityOptions(options: DaemonOptions): IdentityOptions {
  return { ...options, now: options.clock.now() };
}

function leaseLoop(
  options: DaemonOptions,
  loop: (name: string, everyMs: number, sweepOnce: () => Promise<void>) => Loop,
  self: () => string,
  onLost: () => Promise<void>,
): Loop {
  const { store, clock, leaseMs, kit } = options;
  const extend = (limits: { untilTermMs: number; untilKillMs: number }): void => kit.guard.renew(limits);
  return loop('lease', renewEveryMs(leaseMs), () => renewOnce({ store, clock, leaseMs, self, extend, onLost }));
}

/** The lease outlives the jobs: while they end, nobody may take them. */
async function stopInOrder(parts: {
  forget: () => void;
  loops: readonly Loop[];
  work: Work;
  lease: Loop | null;
  identity: () => Identity;
}): Promise<void> {
  parts.forget();
  await Promise.all(parts.loops.map((each) => each.stop()));
  await parts.work.stopAll('shutdown');
  await parts.lease?.stop();
  await parts.identity().retire();
}
