import type { JobIdentity } from '../config/job-account.ts';
import { processEnvironment, type Settings } from '../config/settings/settings.ts';
import { thisMachine } from '../daemon/core/identity.ts';
import { loggedSignals } from '../daemon/core/logged-signals.ts';
import type { ProgramIo } from '../faces/cli/terminal.ts';
import { Peers } from '../faces/http/peers.ts';
import { consoleUrlOf, notifierOptions } from './notifier.ts';
import { createIngressFace } from '../faces/ingress/face.ts';
import { holdProcess } from '../lib/clock.ts';
import { onBroken } from '../lib/invariants/invariants.ts';
import { createLog, type Log } from '../lib/log.ts';
import { openBounds } from '../runners/bounds/open-bounds.ts';
import { createGuard } from '../runners/process/guard.ts';
import { endTree } from '../runners/process/tree.ts';
import { createLauncher } from '../runners/launch/launch.ts';
import type { SchemaAccess } from '../store/engine/migrate.ts';
import { type Base, openBase, sameKey, type ServiceParts } from './base.ts';
import { assembleDaemon, prepareBase, type ServesQueue } from './daemon.ts';
import { logOpenings, refuseExposed, refuseOpenDoor } from './exposure.ts';
import { ingressUrlOf } from './ingress-url.ts';
import { prepareJobIdentity, prepareJobPlace } from './job-place.ts';
import { logLimits, sandboxSupport } from './sandbox-support.ts';
import { statusOf } from './status.ts';
import { reloadOnHangup, Targets } from './reload.ts';
import { becomeProgram, takeHandedOver } from './run/hand-over.ts';
import { Listeners } from './run/listeners.ts';
import { type Running, sayReady } from './run/ready.ts';
import { makeStrict } from './run/make-strict.ts';
import { InPlace } from './run/restarting.ts';
import { type ServiceManager, serviceManager } from './run/sd-notify.ts';
import { StartMemory } from './run/start-memory.ts';
import { untilStopSignal } from './run/stop.ts';
import { Teardown } from './run/teardown.ts';

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
  const memory = new StartMemory();
  try {
    const running = await start();
    await sayReady(running, settings, io);
    const manager = managerOf(running);
    manager.ready(`on ${running.webUrl}`);
    memory.releaseLater(running.runtime.services.clock);
    const handed = await Promise.race([stopSignal.then(() => null), running.restartInPlace]);
    // A service that says that it stops would be ended by its manager.
    if (handed === null) manager.stopping();
    if (handed === null) await running.stop();
    // What could not be stopped in order ends with this program, too.
    else await running.stop().catch((error: unknown) => running.signals.emit('loop:failed', { name: 'stop', error }));
    if (handed !== null && !stopSignal.isSignalled()) becomeProgram(handed());
    return 0;
  } finally {
    memory.keep();
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

/** The result ends it. */
function logBroken(log: Log): () => Promise<void> {
  const end = onBroken(({ invariant, facts, message }) => log.error({ invariant, facts }, message));
  return async () => end();
}

async function assembleServe({ settings, schema, load }: ServeOrder, teardown: Teardown): Promise<Running> {
  const handed = takeHandedOver();
  const log = createLog();
  teardown.add(logBroken(log));
  const opened = await openBase(settings, schema);
  teardown.add(() => opened.close());
  await prepareBase(opened);
  if (settings.strict) await makeStrict(opened.store);
  await refuseExposed(opened);
  logOpenings(opened, log);
  const targets = await Targets.open(opened, settings.notify);
  const jobIdentity = await prepareJobIdentity(settings);
  const signals = loggedSignals(log);
  const { sandbox, ...jobs } = openJobParts({ settings, base: opened, log, teardown, jobIdentity });
  const inPlace = new InPlace(settings, handed.node !== null);
  const { daemon, readSettings, listeners, ...listening } = await assembleDaemon(opened, {
    machine: thisMachine(),
    nodeName: settings.nodeName ?? handed.node,
    jobIdentity,
    jobs,
    endTree,
    restarting: inPlace.daemonPart,
    signals,
    targets,
    readReload: (ofDaemon) => targets.reloader({ settings, load, daemon: ofDaemon }),
    listen: (base, parts) => listenAll(new Listeners(base, log, teardown, handed), { ...parts, sandbox }),
    async place(base) {
      const place = await prepareJobPlace(base, jobIdentity, log);
      logLimits(await sandbox(), log);
      return place;
    },
    sending: (base, webUrl, services) => notifierOptions({ base, targets, webUrl, services }),
  });
  teardown.add(() => daemon.stop());
  teardown.add(reloadOnHangup(opened.store, readSettings, log));
  const restartInPlace = inPlace.asked.then(() => listeners.keepSockets(daemon.who().node));
  return { ...listening, daemon, signals, restartInPlace, stop: () => teardown.run() };
}

/** The listeners of a daemon, open. */
async function listenAll(listeners: Listeners, parts: ServesQueue & Pick<ServiceParts, 'sandbox'>) {
  const { settings } = listeners.base;
  let ingressUrl = '';
  const { runtime, url: webUrl } = await listeners.openWeb(settings.webAddr, 'web-addr', {
    ...parts,
    ingressUrl: () => Promise.resolve(ingressUrl),
  });
  const { log, turns } = listeners;
  const ingress = createIngressFace({
    runtime,
    log,
    peers: new Peers(settings.trustedProxy),
    turns,
    consoleUrl: consoleUrlOf(settings, webUrl),
  });
  ingressUrl = await listeners.open('ingress', ingress, settings.ingressAddr, 'ingress-addr');
  const statusUrl = await openStatus(listeners);
  listeners.closeUnused();
  return { listeners, runtime, webUrl, ingressUrl, statusUrl };
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

async function assembleWeb(settings: Settings, teardown: Teardown): Promise<Running> {
  const log = createLog();
  teardown.add(logBroken(log));
  const base = await openBase(settings);
  teardown.add(() => base.close());
  await sameKey(base);
  logOpenings(base, log);
  await refuseOpenDoor(base, settings.addr, 'addr');
  const listeners = new Listeners(base, log, teardown);
  const { runtime, url: webUrl } = await listeners.openWeb(settings.addr, 'addr', {
    hasQueue: false,
    wake: () => undefined,
    // Hooks and decision links are answered by the daemon.
    ingressUrl: () => ingressUrlOf(base),
    sandbox: () => sandboxSupport(settings),
  });
  const signals = loggedSignals(log);
  const restartInPlace = new Promise<never>(() => undefined);
  const stop = (): Promise<void> => teardown.run();
  return { webUrl, ingressUrl: null, statusUrl: null, runtime, daemon: null, signals, restartInPlace, stop };
}

/** The public page; null where it is off. */
async function openStatus(listeners: Listeners): Promise<string | null> {
  const status = statusOf(listeners);
  return status === null ? null : listeners.open('status', status.face, status.at, 'status-addr');
}
