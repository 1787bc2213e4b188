import type { JobIdentity } from '../config/job-account.ts';
import { processEnvironment } from '../config/settings/settings.ts';
import type { Machine } from '../daemon/core/identity.ts';
import type { Signals } from '../daemon/core/signals.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import type { Restarting } from '../daemon/maintenance/restart.ts';
import type { NotifierOptions } from '../daemon/notify/send.ts';
import type { Runtime } from '../operations/core/invoke.ts';
import type { Reload } from '../operations/maintenance/services.ts';
import type { Services } from '../operations/core/services.ts';
import type { Transport } from '../push/transport.ts';
import { DEFAULT_LANG } from '../runners/process/environment.ts';
import type { endTree } from '../runners/process/tree.ts';
import type { RunSetup } from '../runners/run.ts';
import { VERSION } from '../version.ts';
import { type Base, sameKey, type ServiceParts } from './base.ts';
import { type JobPlace, sharedMemoryOf, watchModes, withModeWatch } from './job-place.ts';
import { beginAdoption, beginKeying } from './keying/keying.ts';
import { foldersOf } from './outside.ts';
import { ownSearchPath } from './search-path.ts';

/** Where a daemon answers. */
interface Listening {
  readonly runtime: Runtime;
  readonly webUrl: string;
  readonly ingressUrl: string;
}

/** What a daemon has around it: its machine, its listeners, and what it sends with. */
interface Around<L extends Listening> {
  readonly machine: Machine;
  /** `--node-name`, or the name that was handed over; null for the default. */
  readonly nodeName: string | null;
  readonly jobIdentity: JobIdentity;
  /** Starts, bounds and ends the programs of jobs. */
  readonly jobs: Pick<RunSetup, 'launcher' | 'bounds' | 'guard'>;
  readonly endTree: typeof endTree;
  readonly restarting: Restarting;
  readonly signals: Signals;
  readonly targets: { readonly current: readonly Transport[] };
  readReload(daemon: () => Daemon | null): () => Promise<Reload>;
  /** Opens what the daemon answers on. It accepts before the first claim: what can't be reached must not run jobs. */
  listen(base: Base, parts: ServesQueue): Promise<L>;
  /** Asked after that: a refused start creates no directory for runs. */
  place(base: Base): Promise<JobPlace>;
  sending(base: Base, webUrl: string, services: Services): NotifierOptions;
}

/** What the daemon does for operations. */
export type ServesQueue = Pick<
  ServiceParts,
  'hasQueue' | 'wake' | 'claimNow' | 'jobIdentity' | 'node' | 'targets' | 'reload' | 'checkSamples'
>;

interface Assembled {
  readonly daemon: Daemon;
  readonly readSettings: () => Promise<Reload>;
}

/** The whole daemon on an open base. Throws Failure where this process must not serve the store. */
export async function assembleDaemon<L extends Listening>(opened: Base, around: Around<L>): Promise<Assembled & L> {
  const { jobIdentity, targets, signals } = around;
  let daemon: Daemon | null = null;
  const modes = jobIdentity.account === null ? watchModes(opened, () => daemon?.who().id ?? null) : null;
  const base = modes === null ? opened : withModeWatch(opened, modes);
  const readSettings = around.readReload(() => daemon);
  const listening = await around.listen(base, {
    hasQueue: true,
    wake: () => daemon?.wake(),
    claimNow: async (tx) => daemon?.claimNow(tx),
    jobIdentity,
    node: () => daemon?.who().node ?? null,
    targets: () => targets.current.length,
    reload: readSettings,
    checkSamples: () => daemon?.checkSamples() ?? [],
  });
  const { services } = listening.runtime;
  const place = await around.place(base);
  daemon = await startDaemon({
    ...ofBase(base),
    setup: { ...around.jobs, ...runSetup(base, place.runsDir, jobIdentity) },
    machine: around.machine,
    version: VERSION,
    formerRunsDirs: place.formerRunsDirs,
    ...(modes === null ? {} : { modes }),
    // For verbs on this machine, which do not have the settings of the daemon.
    ingressUrl: base.settings.publicUrl ?? listening.ingressUrl,
    nodeName: around.nodeName,
    restarting: around.restarting,
    readSettings,
    endTree: around.endTree,
    signals,
    services,
    reaction: services.reaction,
    checks: { ...services, probes: () => base.probes.deps(), canary: base.settings.checkCanary },
    pages: around.sending(base, listening.webUrl, services),
  });
  return { ...listening, daemon, readSettings };
}

/** Throws Failure where this process must not serve the store. */
export async function prepareBase(base: Base): Promise<void> {
  await sameKey(base);
  await beginKeying(base);
}

function ofBase(base: Base) {
  const { settings, paths, store, sources, clock } = base;
  const { maxJobs, leaseMs, databaseUrl, keepJobsMs, keepEventsMs, keepNotificationsMs } = settings;
  return {
    settings,
    paths,
    store,
    sources,
    clock,
    maxJobs,
    leaseMs,
    databaseUrl,
    instancesDir: paths.instances,
    keep: { jobsMs: keepJobsMs, eventsMs: keepEventsMs, notificationsMs: keepNotificationsMs },
    keyring: () => sameKey(base),
    adopt: () => beginAdoption(base),
    announceJob: (jobId: string) => base.followers.wake(jobId),
  };
}

function runSetup(base: Base, runsDir: string, identity: JobIdentity) {
  const { account } = identity;
  const sharedMemory = sharedMemoryOf(identity, base.clock);
  return { clock: base.clock, runsDir, account, sharedMemory, ...foldersOf(base, runsDir), ...toolSettings() };
}

/** What tools get of the daemon's environment. */
function toolSettings(): { path: string; lang: string } {
  return { path: ownSearchPath(), lang: processEnvironment()['LANG'] ?? DEFAULT_LANG };
}
