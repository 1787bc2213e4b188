import type { Clock } from '../lib/clock.ts';
import { type Debounced, debounce } from '../lib/flow/debounce.ts';
import type { ReactionDeps } from '../reaction/types.ts';
import type { endTree } from '../runners/process/tree.ts';
import type { RunKit } from '../runners/run.ts';
import { takeIdentity, type Identity, type Machine } from './core/identity.ts';
import { renewEveryMs, renewOnce, Trust } from './core/lease.ts';
import { startLoop, type Loop } from './core/loop.ts';
import { EXPIRE_EVERY_MS, expireOnce } from './approvals/expire.ts';
import { MODES_EVERY_MS, type ModeWatch } from './core/mode-watch.ts';
import { startPageLoops } from './notify/loops.ts';
import type { PageOptions } from './notify/send.ts';
import type { InputDeps } from './jobs/run-inputs.ts';
import { startReactionLoops } from './events/loops.ts';
import { RESCUE_EVERY_MS, rescueOnce } from './jobs/rescue.ts';
import { RETENTION_EVERY_MS, retainOnce } from './maintenance/retention.ts';
import { SCHEDULE_EVERY_MS, Scheduler } from './schedules/schedule.ts';
import type { Signals } from './core/signals.ts';
import { Work } from './jobs/work.ts';

export interface DaemonOptions extends InputDeps {
  readonly clock: Clock;
  readonly kit: RunKit;
  readonly machine: Machine;
  readonly version: string;
  readonly instancesDir: string;
  /** Where jobs run as the account of the daemon. */
  readonly modes?: ModeWatch;
  /** See RescueDeps. */
  readonly formerRunsDirs?: readonly string[];
  /** Where hooks and decision links are answered: open before the first claim. */
  readonly ingressUrl: string;
  readonly maxJobs: number;
  readonly leaseMs: number;
  readonly endTree: typeof endTree;
  readonly announceJob: (jobId: string) => void;
  readonly signals: Signals;
  readonly reaction: ReactionDeps;
  readonly pages: PageOptions;
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
/**
 * Deadlines and pages are looked at so long after a wake-up, in milliseconds: the claim that it may lead to goes first.
 */
const OTHERS_AFTER_MS = 10;

/** Starts the passes. What a dead daemon left keeps its keys until it is rescued, so claims need not wait for that. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { store, clock, signals, kit, leaseMs, modes } = options;
  const hasLease = store.dialect.liveness === 'lease';
  const trust = new Trust({ clock, leaseMs, extend: (limits) => kit.guard.renew(limits) });
  const takeName = async (): Promise<Identity> => {
    const askedAt = clock.monotonic();
    const taken = await takeIdentity({ ...options, targets: options.pages.transports, now: clock.now() });
    // Before the first claim under this name: the guard would end its job by the limits of the name before.
    if (hasLease) trust.renewed(askedAt);
    return taken;
  };
  let identity = await takeName();
  const self = (): string => identity.id;
  const onError = (name: string, error: unknown): void => void signals.emit('loop:failed', { name, error });
  const beforeRun = async (): Promise<void> => modes?.check().catch((error: unknown) => onError('modes', error));
  const work = new Work({ ...options, self, isOverdue: () => trust.isOver(), onFree: () => claims.wake(), beforeRun });
  const rescueDeps = { ...options, runsDir: options.kit.runsDir, self };
  const loop = (name: string, everyMs: number, sweepOnce: (signal: AbortSignal) => Promise<number | void>): Loop =>
    startLoop({ name, clock, everyMs, sweepOnce, onError });

  // A request whose deadline passed while nobody was there ends before anything is claimed.
  const expireDeps = { ...options, self };
  await expireOnce(expireDeps);
  const expiry = loop('expire', EXPIRE_EVERY_MS, (signal) => expireOnce(expireDeps, signal));
  const rescue = loop('rescue', RESCUE_EVERY_MS, (signal) => rescueOnce(rescueDeps, signal));
  const claims = loop('claim', CLAIM_EVERY_MS, () => work.claimOnce());
  const cancels = loop('cancel', CANCEL_EVERY_MS, () => work.cancelOnce());
  const reactions = startReactionLoops({ reaction: options.reaction, self, signals }, loop);
  const paging = startPageLoops({ store, clock, self, signals, pages: options.pages }, loop);
  const onLost = async (): Promise<void> => {
    signals.emit('lease:lost', { daemonId: identity.id });
    await work.stopAll('lease-lost');
    identity = await takeName();
    wake();
  };
  const onLate = (): void => void work.stopAll('lease-late');
  const renew = (): Promise<void> => renewOnce({ store, leaseMs, self, trust, onLate, onLost });
  const scheduler = new Scheduler(options.reaction);
  const schedules = loop('schedule', SCHEDULE_EVERY_MS, (signal) => scheduler.sweepOnce(signal));
  const retention = loop('retention', RETENTION_EVERY_MS, (signal) => retainOnce({ store, clock }, signal));
  const modeLoops = modes === undefined ? [] : [loop('modes', MODES_EVERY_MS, () => modes.check())];
  const lease = hasLease ? loop('lease', renewEveryMs(leaseMs), renew) : null;
  const others = debounce(clock, OTHERS_AFTER_MS, () => {
    expiry.wake();
    paging.wake();
  });
  const wake = (): void => {
    claims.wake();
    cancels.wake();
    others.call();
  };
  signals.on('job:rescued', wake);
  const forget = store.onForeignCommit(wake);
  return {
    wake,
    get id() {
      return identity.id;
    },
    stop: () =>
      stopInOrder({
        forget,
        others,
        loops: [retention, schedules, expiry, rescue, claims, cancels, ...reactions, ...paging.loops, ...modeLoops],
        work,
        lease,
        identity: () => identity,
      }),
  };
}

/** The lease outlives the jobs: while they end, nobody may take them. */
async function stopInOrder(parts: {
  forget: () => void;
  others: Debounced;
  loops: readonly Loop[];
  work: Work;
  lease: Loop | null;
  identity: () => Identity;
}): Promise<void> {
  parts.forget();
  parts.others.cancel();
  parts.work.close();
  await Promise.all(parts.loops.map((each) => each.stop()));
  await parts.work.stopAll('shutdown');
  await parts.lease?.stop();
  await parts.identity().retire();
}
