import type { JobIdentity } from '../config/job-account.ts';
import type { ListenAddress } from '../config/settings/listen-address.ts';
import { postgresEnvironment } from './postgres-environment.ts';
import { processEnvironment, type Settings } from '../config/settings/settings.ts';
import { thisMachine } from '../daemon/core/identity.ts';
import { loggedSignals } from '../daemon/core/logged-signals.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import { Failure } from '../domain/failure.ts';
import { createHttpFace, type HttpFace } from '../faces/api/face.ts';
import type { ProgramIo } from '../faces/cli/terminal.ts';
import { Peers } from '../faces/http/peers.ts';
import { createIngressFace } from '../faces/ingress/face.ts';
import { holdProcess } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { createLog, type Log } from '../lib/log.ts';
import { createAuthenticator } from '../operations/access/authenticate.ts';
import type { Runtime } from '../operations/core/invoke.ts';
import { openBounds } from '../runners/bounds/open-bounds.ts';
import { DEFAULT_LANG, DEFAULT_PATH } from '../runners/process/environment.ts';
import { createGuard } from '../runners/process/guard.ts';
import { endTree } from '../runners/process/tree.ts';
import { createLauncher } from '../runners/launch/launch.ts';
import type { SchemaAccess } from '../store/engine/migrate.ts';
import { VERSION } from '../version.ts';
import { type Base, createServices, openBase, sameKey, type ServiceParts } from './base.ts';
import { refuseExposed, refuseOpenDoor } from './exposure.ts';
import { ingressUrlOf } from './ingress-url.ts';
import { foldersOf } from './outside.ts';
import { prepareJobIdentity, prepareJobPlace, watchModes, withModeWatch } from './job-place.ts';
import { beginKeying } from './keying.ts';
import { notifierOptions } from './notifier.ts';
import { logLimits, sandboxSupport } from './sandbox-support.ts';
import { statusOf } from './status.ts';
import { reloadOnHangup, Targets } from './reload.ts';
import { type Running, sayReady } from './run/ready.ts';
import { type ServiceManager, serviceManager } from './run/sd-notify.ts';
import { untilStopSignal } from './run/stop.ts';
import { Teardown } from './run/teardown.ts';

/** How long open requests may take to end when the daemon stops, in milliseconds. */
const CLOSE_GRACE_MS = 5_000;

export async function runServe(load: Load, io: ProgramIo, schema: SchemaAccess = 'migrate'): Promise<number> {
  const settings = await load();
  return runUntilStopped(() => startServe(settings, schema, load), settings, io);
}

export async function runWeb(settings: Settings, io: ProgramIo): Promise<number> {
  return runUntilStopped(() => startWeb(settings), settings, io);
}

async function runUntilStopped(start: () => Promise<Running>, settings: Settings, io: ProgramIo): Promise<number> {
  const release = holdProcess();
  // Listen from the beginning: a signal may come just before the daemon is ready, when it has already claimed jobs.
  const stopSignal = untilStopSignal();
  try {
    const running = await start();
    await sayReady(running, settings, io);
    const manager = managerOf(running);
    manager.ready(`on ${running.webUrl}`);
    await stopSignal;
    manager.stopping();
    await running.stop();
    return 0;
  } finally {
    release();
  }
}

function managerOf({ runtime, signals }: Running): ServiceManager {
  const onProblem = (error: Error): void => void signals.emit('loop:failed', { name: 'service manager', error });
  return serviceManager(processEnvironment(), runtime.services.clock, onProblem);
}

/** The whole daemon. It brings an older schema up to date unless `schema` says otherwise. */
export function startServe(settings: Settings, schema: SchemaAccess = 'migrate', load?: Load): Promise<Running> {
  const again = load ?? (() => Promise.resolve(settings));
  return startOrUndo((teardown) => assembleServe({ settings, schema, load: again }, teardown));
}

/** API and pages, without a job queue. */
export function startWeb(settings: Settings): Promise<Running> {
  return startOrUndo((teardown) => assembleWeb(settings, teardown));
}

/** If a later part cannot start, the started parts are ended, last first. */
async function startOrUndo(assemble: (teardown: Teardown) => Promise<Running>): Promise<Running> {
  const teardown = new Teardown();
  try {
    return await assemble(teardown);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

/** Reads the settings from the flags, the environment and the files of this process. */
type Load = () => Promise<Settings>;

interface ServeOrder {
  readonly settings: Settings;
  readonly schema: SchemaAccess;
  readonly load: Load;
}

async function assembleServe({ settings, schema, load }: ServeOrder, teardown: Teardown): Promise<Running> {
  const log = createLog();
  const opened = await openBase(settings, schema);
  teardown.add(() => opened.close());
  await prepareBase(opened);
  const targets = await Targets.open(opened, settings.notify);
  const jobIdentity = await prepareJobIdentity(settings);
  let daemon: Daemon | null = null;
  const modes = jobIdentity.account === null ? watchModes(opened, () => daemon?.id ?? null) : null;
  const base = modes === null ? opened : withModeWatch(opened, modes);
  const signals = loggedSignals(log);
  const { sandbox, ...forJobs } = openJobParts({ settings, base, log, teardown, jobIdentity });

  let ingressUrl = '';
  const surface: Surface = { base, log, teardown, listening: [] };
  // The listeners accept before the first claim: a daemon that can't be reached must not run jobs.
  const { runtime, url: webUrl } = await openWeb(surface, settings.webAddr, 'web-addr', {
    hasQueue: true,
    wake: () => daemon?.wake(),
    claimNow: async (tx) => daemon?.claimNow(tx),
    ingressUrl: () => Promise.resolve(ingressUrl),
    sandbox,
    jobIdentity,
    targets: () => targets.current.length,
    reload: targets.reloader({ settings, load, daemon: () => daemon }),
    checkSamples: () => daemon?.checkSamples() ?? [],
  });
  const ingress = createIngressFace({ runtime, log, peers: new Peers(settings.trustedProxy) });
  ingressUrl = await open(surface, 'ingress', ingress, settings.ingressAddr, 'ingress-addr');
  const statusUrl = await openStatus(surface);
  // After the listeners: a refused start creates no directory for runs.
  const place = await prepareJobPlace(base, jobIdentity, log);
  logLimits(await sandbox(), log);
  daemon = await startDaemon({
    store: base.store,
    keyring: () => sameKey(base),
    sources: base.sources,
    clock: base.clock,
    setup: {
      clock: base.clock,
      ...forJobs,
      runsDir: place.runsDir,
      account: jobIdentity.account,
      ...foldersOf(base, place.runsDir),
      ...toolSettings(),
    },
    machine: thisMachine(),
    version: VERSION,
    instancesDir: base.paths.instances,
    ...place,
    ...(modes === null ? {} : { modes }),
    ingressUrl,
    ...ofDaemon(base),
    endTree,
    announceJob: (jobId) => base.followers.wake(jobId),
    signals,
    reaction: runtime.services.reaction,
    checks: { ...runtime.services, probes: () => base.probes.deps(), canary: settings.checkCanary },
    pages: notifierOptions({ clock: base.clock, settings, targets, webUrl, services: runtime.services }),
  });
  const started = daemon;
  teardown.add(() => started.stop());
  teardown.add(reloadOnHangup(runtime, log));
  return { webUrl, ingressUrl, statusUrl, runtime, daemon, signals, stop: () => teardown.run() };
}

interface JobPartsOrder {
  readonly settings: Settings;
  readonly base: Base;
  readonly log: Log;
  readonly teardown: Teardown;
  readonly jobIdentity: JobIdentity;
}

/** What starts, bounds and ends the programs of jobs, and what the doctor says of it. */
function openJobParts({ settings, base, log, teardown, jobIdentity }: JobPartsOrder) {
  const launcher = createLauncher({ allowUnfilteredEgress: settings.allowUnfilteredEgress });
  // Before the first helper process, which then starts in the control group of the daemon.
  const bounds = openBounds(settings, base.clock);
  const guard = createGuard({ clock: base.clock, onProblem: (err) => log.warn({ err }, 'guard') });
  teardown.add(() => guard.stop());
  const sandbox = () => sandboxSupport(settings, { launcher, bounds, jobIdentity });
  return { launcher, bounds, guard, sandbox };
}

/** Throws Failure where this process must not serve the store. */
async function prepareBase(base: Base): Promise<void> {
  await sameKey(base);
  await beginKeying(base);
  await refuseExposed(base);
}

function ofDaemon({ settings, paths }: Base) {
  const { forks, sshAgent, maxJobs, leaseMs, nodeName, keepJobsMs, keepEventsMs, keepNotificationsMs } = settings;
  const keep = { jobsMs: keepJobsMs, eventsMs: keepEventsMs, notificationsMs: keepNotificationsMs };
  const backups = { folder: paths.backups, keep: settings.keepBackups, environment: postgresEnvironment() };
  return { forks, sshAgent, maxJobs, leaseMs, nodeName, keep, backups };
}

/** What tools get of the daemon's environment. */
function toolSettings(): { path: string; lang: string } {
  const env = processEnvironment();
  return { path: env['PATH'] ?? DEFAULT_PATH, lang: env['LANG'] ?? DEFAULT_LANG };
}

async function assembleWeb(settings: Settings, teardown: Teardown): Promise<Running> {
  const log = createLog();
  const base = await openBase(settings);
  teardown.add(() => base.close());
  await sameKey(base);
  await refuseOpenDoor(base, settings.addr, 'addr');
  const surface: Surface = { base, log, teardown, listening: [] };
  const { runtime, url: webUrl } = await openWeb(surface, settings.addr, 'addr', {
    hasQueue: false,
    wake: () => undefined,
    // Hooks and decision links are answered by the daemon.
    ingressUrl: () => ingressUrlOf(base),
    sandbox: () => sandboxSupport(settings),
  });
  const signals = loggedSignals(log);
  return { webUrl, ingressUrl: null, statusUrl: null, runtime, daemon: null, signals, stop: () => teardown.run() };
}

/** What both programs listen with. */
interface Surface {
  readonly base: Base;
  readonly log: Log;
  readonly teardown: Teardown;
  /** Reported to the doctor. */
  readonly listening: { name: string; url: string }[];
}

/** The token-gated listener, open. */
async function openWeb(
  surface: Surface,
  at: ListenAddress,
  flag: string,
  parts: Pick<
    ServiceParts,
    'hasQueue' | 'wake' | 'claimNow' | 'ingressUrl' | 'sandbox' | 'jobIdentity' | 'targets' | 'reload' | 'checkSamples'
  >,
): Promise<{ runtime: Runtime; url: string }> {
  const { base, log } = surface;
  await base.probes.deps(); // A --check-ca-file that cannot be used ends the start.
  const services = createServices(base, { ...parts, startedAt: base.clock.now(), listeners: () => surface.listening });
  const runtime = { store: base.store, services };
  return { runtime, url: await open(surface, 'web', await createWeb(base, runtime, log), at, flag) };
}

/** The public page; null where it is off. */
async function openStatus(surface: Surface): Promise<string | null> {
  const status = statusOf(surface.base, surface.log);
  return status === null ? null : open(surface, 'status', status.face, status.at, 'status-addr');
}

interface Face {
  listen(at: ListenAddress): Promise<{ url: string }>;
  close(graceMs: number): Promise<void>;
}

/** Opens a listener; the result is its URL. */
async function open(
  { teardown, listening }: Surface,
  name: string,
  face: Face,
  at: ListenAddress,
  flag: string,
): Promise<string> {
  teardown.add(() => face.close(CLOSE_GRACE_MS));
  try {
    const { url } = await face.listen(at);
    listening.push({ name, url });
    return url;
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    const why = code === 'EADDRINUSE' ? 'the port is in use' : code;
    throw new Failure('invalid_argument', `--${flag}: cannot listen on ${at.host}:${at.port}: ${why}.`);
  }
}

async function createWeb(base: Base, runtime: Runtime, log: Log): Promise<HttpFace> {
  const authenticator = createAuthenticator({ store: base.store, clock: base.clock, sealKey: await base.sealKey() });
  const { basePath, publicUrl, trustedProxy } = base.settings;
  return createHttpFace({
    runtime,
    authenticator,
    basePath,
    publicUrl,
    secureCookies: publicUrl?.startsWith('https:') === true,
    peers: new Peers(trustedProxy),
    log,
  });
}
