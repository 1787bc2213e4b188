import type { Clock } from '../lib/clock.ts';
import { debounce } from '../lib/flow/debounce.ts';
import { pathPart } from '../domain/path-part.ts';
import { leaseFile } from '../store/engine/instance-lock.ts';
import type { Tx } from '../store/engine/tx.ts';
import type { FilesReader } from '../operations/approvals/pinned-files.ts';
import type { Reload } from '../operations/maintenance/services.ts';
import { settleRestart } from '../store/maintenance/restarts.ts';
import { retarget } from '../store/notify/targets.ts';
import type { ReactionDeps } from '../reaction/types.ts';
import type { endTree } from '../runners/process/tree.ts';
import type { RunSetup } from '../runners/run.ts';
import type { NotifyTarget } from '../domain/notify/target.ts';
import type { CheckSample } from '../domain/checks/sweep/report.ts';
import { expireOnce } from './approvals/expire.ts';
import { type Identity, type Machine, takeIdentity } from './core/identity.ts';
import { openSweep, type SweepSetup } from './checks/open-sweep.ts';
import { LeaseKeeper } from './core/lease/lease-keeper.ts';
import type { WakeUp } from './core/loop.ts';
import { Loops } from './loops.ts';
import { othersSeenAt, Presence } from './core/presence.ts';
import type { ModeWatch } from './core/mode-watch.ts';
import type { Signals } from './core/signals.ts';
import { RUN_SUPPORT } from './kinds.ts';
import type { RunDeps } from './jobs/run-support.ts';
import { Work } from './jobs/work.ts';
import { ClockWatch } from './maintenance/clock-watch.ts';
import { type Restarting, RunningDigest } from './maintenance/restart.ts';
import type { KeptFor } from './maintenance/retention.ts';
import { Notifier, type NotifierOptions } from './notify/send.ts';
import { Scheduler } from './schedules/schedule.ts';
import { prepareNextSteps } from './workflows/next-steps.ts';

interface DaemonOptions extends Omit<RunDeps, keyof RunSetup | 'kinds'> {
  readonly sources: RunDeps['sources'] & FilesReader['sources'];
  readonly clock: Clock;
  readonly setup: RunSetup;
  readonly machine: Machine;
  readonly version: string;
  readonly instancesDir: string;
  /** `--node-name`; null for the default. */
  readonly nodeName: string | null;
  /** Where jobs run as the account of the daemon. */
  readonly modes?: ModeWatch;
  /** See RescueDeps. */
  readonly formerRunsDirs?: readonly string[];
  /** Where hooks and decision links are answered: open before the first claim. */
  readonly ingressUrl: string;
  readonly maxJobs: number;
  readonly leaseMs: number;
  /** Of a shared PostgreSQL; null for SQLite. */
  readonly databaseUrl: string | null;
  readonly keep: KeptFor;
  readonly endTree: typeof endTree;
  /** See AdoptionDeps. */
  readonly adopt: () => Promise<boolean>;
  readonly announceJob: (jobId: string) => void;
  readonly signals: Signals;
  readonly reaction: ReactionDeps;
  readonly pages: NotifierOptions;
  readonly checks: SweepSetup;
  readonly restarting: Restarting;
  readonly readSettings: () => Promise<Reload>;
}

export interface Daemon {
  /** A job may be claimable, a cancel was asked, the cordon was lifted. */
  wake(): void;
  /** Claims jobs in the transaction of another write. */
  claimNow(tx: Tx): Promise<void>;
  /** Its names, which change when it loses its lease. */
  who(): Pick<Identity, 'id' | 'node'>;
  /** Has these targets of notifications and plans schedules again, with the commit of this transaction. */
  reload(tx: Tx, targets: readonly NotifyTarget[]): Promise<void>;
  /** What it knows of the targets that it probes. */
  checkSamples(): readonly CheckSample[];
  /** Stops claiming, ends the running jobs as `interrupted`, and leaves in order. */
  stop(): Promise<void>;
}

/** Deadlines and notifications are checked this long after a wake-up, in milliseconds: a claim comes first. */
const AFTER_REQUEST_MS = 10;

/** Starts the loops. Jobs of a dead daemon keep their keys until they are rescued, so claims need not wait for that. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { store, clock, signals, setup, leaseMs, modes } = options;
  const lease = new LeaseKeeper({ clock, guard: setup.guard, signals, leaseMs, url: options.databaseUrl });
  const takeName = (): Promise<Identity> => takeNameWith(options, lease);
  let identity = await takeName();
  let loops: Loops | null = null;
  const wakeUp = (why: WakeUp): void => loops?.wake(why);
  const afterRequest = debounce(clock, AFTER_REQUEST_MS, () => wakeUp('after-request'));
  const wake = (): void => {
    wakeUp('request');
    afterRequest.call();
  };
  const parts = { ...setup, ...options, ...naming(() => identity), kinds: RUN_SUPPORT, wakeUp };
  const failed = (name: string) => (error: unknown) => void signals.emit('loop:failed', { name, error });
  const work = new Work({
    ...parts,
    claimer: () => identity,
    isOverdue: () => lease.trust.isOver(),
    nextOf: (row) => prepareNextSteps(options, row),
    onWithoutEvent: () => wakeUp('job-ended'),
    onFree: () => wakeUp('slot-free'),
    beforeRun: async () => modes?.check().catch(failed('modes')),
  });
  const notifier = new Notifier({ ...options.pages, ...parts, onError: failed('page') });
  notifier.onFree(() => wakeUp('notification-due'));

  const sweep = await openSweep({ ...options, self: parts.self, onError: failed('checks') });
  const scheduler = new Scheduler(options.reaction);
  await lease.start({
    onLate: () => void work.stopAll('lease-late'),
    onLost: async () => {
      signals.emit('lease:lost', { daemonId: identity.id });
      await work.stopAll('lease-lost');
      identity = await takeName();
      wake();
    },
  });
  // An approval that expired while no daemon ran ends before the first claim.
  await expireOnce(parts);
  loops = new Loops({
    ...parts,
    running: new RunningDigest(),
    clockWatch: new ClockWatch(clock, await othersSeenAt(parts)),
    presence: new Presence(parts),
    work,
    notifier,
    sweep,
    scheduler,
  });
  signals.on('job:rescued', () => [wakeUp('job-ended'), wake()]);
  const forget = store.onForeignCommit(wake);
  const running = loops;
  return {
    wake,
    claimNow: (tx) => work.claimIn(tx),
    reload: reloader(parts.self, scheduler, wake),
    checkSamples: () => sweep.samples(),
    who: () => identity,
    async stop() {
      forget();
      afterRequest.cancel();
      work.close();
      await running.stop();
      await work.stopAll('shutdown');
      // It outlives the jobs: while they end, no other daemon may claim them.
      await lease.stop();
      await identity.retire();
    },
  };
}

function naming(who: Daemon['who']) {
  return { self: () => who().id, node: () => who().node };
}

function reloader(self: () => string, scheduler: Scheduler, wake: () => void): Daemon['reload'] {
  return async (tx, targets) => {
    await retarget(tx, self(), targets);
    tx.afterCommit(() => {
      scheduler.replan();
      wake();
    });
  };
}

async function takeNameWith(options: DaemonOptions, lease: LeaseKeeper): Promise<Identity> {
  const { clock, pages, store } = options;
  const askedAt = clock.monotonic();
  const taken = await takeIdentity({ ...options, targets: pages.transports(), now: clock.now() });
  const { program, follows } = options.restarting;
  await store.write((tx) => settleRestart(tx, { node: taken.node, daemonId: taken.id, program, follows }));
  // Before the first claim under this name: the guard would end its job by the limits of the name before.
  lease.follow(taken.id, askedAt, leaseFile(options.instancesDir, pathPart('id of this daemon', taken.id)));
  return taken;
}
