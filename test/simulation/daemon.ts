/** A whole daemon as an object: everything is the product's but its machine, its tools and whom it sends to. */
import { mkdirSync } from 'node:fs';
import { openBase, type Base, createServices } from '../../src/app/base.ts';
import { assembleDaemon, prepareBase } from '../../src/app/daemon.ts';
import { loadModules } from '../../src/app/services/on-demand.ts';
import { digestOf, runningProgram } from '../../src/config/program/digest.ts';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { createSignals } from '../../src/daemon/core/signals.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { pause } from '../../src/lib/clock.ts';
import type { Runtime } from '../../src/operations/core/invoke.ts';
import type { Transport } from '../../src/push/transport.ts';
import { NO_BOUNDS } from '../support/bounds/no-bounds.ts';
import type { Processes } from './programs/processes.ts';
import { theWorld } from './world/current.ts';
import { bootOf, type Host } from './world/host.ts';

export interface Node {
  readonly runtime: Runtime;
  readonly daemon: Daemon;
  readonly base: Base;
  /** After the stop of the daemon, as at the end of `svc serve`. */
  close(): Promise<void>;
}

/** Of a daemon, what follows from its store and its machine. */
export interface NodeSettings {
  readonly flags: { readonly 'data-dir': string; readonly 'seal-key-file'?: string };
  /** Of a PostgreSQL, on which each daemon has a lease. */
  readonly databaseUrl: string | null;
}

export interface NodeOrder {
  readonly host: Host;
  readonly settings: NodeSettings;
  readonly processes: Processes;
  readonly transports: readonly Transport[];
  /** How long an approval waits, as the setting. */
  readonly approvalTtl: string;
  /** A loop threw. */
  readonly onFault: (name: string, error: unknown) => void;
  /** The daemon wants to be started again in place. */
  readonly onRestart: () => void;
}

/** How long a restart in place waits for jobs; some take longer. */
const DRAIN_MS = 20_000;
/** Of a new program, which is started to see whether it works. */
const TRIAL = { mostMs: 3_000, failShare: 0.1 };

const NOTHING = (): Promise<void> => Promise.resolve();
const GUARD = {
  ready: NOTHING,
  watch: () => undefined,
  unwatch: () => undefined,
  renew: () => undefined,
  stop: NOTHING,
};
const FAST = {
  'max-jobs': '3',
  // Most worlds make more of a name.
  'keep-backups': '2',
};
const IDENTITY = { account: null, isFallback: false };

/** Opens the store and starts the loops, as `svc serve` does. To be called as the host. */
export async function bootNode(order: NodeOrder): Promise<Node> {
  const { host, processes, transports, onFault } = order;
  const { flags, databaseUrl } = order.settings;
  await loadModules();
  const env = databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl };
  const base = await openBase(readSettings({ ...flags, ...FAST, 'approval-ttl': order.approvalTtl }, env), 'migrate');
  await prepareBase(base);
  const signals = createSignals();
  signals.on('loop:failed', ({ name, error }) => onFault(name, error));
  const who = { host, life: host.life };
  const guard = databaseUrl === null ? GUARD : processes.guard(who);
  const runsDir = `${flags['data-dir']}/runs`;
  const { runtime, daemon } = await assembleDaemon(base, {
    machine: { host: host.machine.name, bootId: bootOf(host.machine) },
    nodeName: host.name,
    jobIdentity: IDENTITY,
    jobs: { launcher: processes.launcher(), bounds: NO_BOUNDS, guard },
    endTree: (options) => processes.endTree(options),
    restarting: {
      program: runningProgram(),
      follows: host.follows,
      drainMs: DRAIN_MS,
      digest: () => digestOf(runningProgram()),
      tryProgram: () => tryProgram(host),
      execute: order.onRestart,
    },
    signals,
    targets: { current: transports },
    readReload: () => () => Promise.reject(new Error('there are no other settings')),
    listen: (opened, parts) =>
      Promise.resolve({
        runtime: {
          store: opened.store,
          services: createServices(opened, { ...parts, ...LISTENING, onError: onFault }),
        },
        webUrl: 'http://127.0.0.1:8420',
        ingressUrl: 'http://127.0.0.1:8421',
      }),
    place() {
      mkdirSync(runsDir, { recursive: true });
      return Promise.resolve({ runsDir, formerRunsDirs: [] });
    },
    sending: (_base, _webUrl, services) => ({
      transports: () => transports,
      sendToEndpoint: () => Promise.reject(new Error('there are no endpoints')),
      detail: 'full',
      baseUrl: 'http://127.0.0.1:8420',
      services: { ...services, linkOrigin: () => Promise.resolve('http://127.0.0.1:8421') },
    }),
  });
  theWorld().note(`ready ${host.name}`);
  return {
    runtime,
    daemon,
    base,
    async close() {
      await guard.stop();
      await base.close();
    },
  };
}

const LISTENING = {
  startedAt: 0,
  ingressUrl: () => Promise.resolve('http://127.0.0.1:8421'),
  sandbox: () => Promise.resolve({ status: 'ok' as const, detail: 'simulated' }),
  listeners: () => [],
};

async function tryProgram({ name }: Host): Promise<string | null> {
  const chance = theWorld().chance.of(`${name}/trial`);
  await pause(theWorld().clock(), chance.whole(1, TRIAL.mostMs));
  return chance.chance(TRIAL.failShare) ? 'it did not start' : null;
}
