import { hostname } from 'node:os';
import {
  DATA_DIR_ENTRIES,
  type DataDirEntry,
  dataDirPaths,
  prepareDataDir,
  type DataDirPaths,
} from '../config/data-dir.ts';
import { loadOrCreateSealKey } from '../config/seal-key.ts';
import { createSealKeeper } from '../config/seal-keeper.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { DoctorParts } from '../doctor/entry.ts';
import { Failure } from '../domain/failure.ts';
import { thisMachine } from '../daemon/core/identity.ts';
import { lockSeenAt } from '../daemon/core/lock-file.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { errorCode, wordsOfCode } from '../lib/error-code.ts';
import { Followers } from '../lib/flow/followers.ts';
import { newId } from '../lib/id.ts';
import type { Keyring, SealKeeper } from '../lib/seal.ts';
import { TaskSlicer } from '../lib/flow/cooperative.ts';
import type { Services } from '../operations/core/services.ts';
import { probeBudget } from '../operations/checks/probe-budget.ts';
import { Prober } from '../operations/checks/prober.ts';
import { CompiledRules } from '../reaction/rules/compiled-rules.ts';
import { currentNetgroups } from '../store/netgroups/netgroups.ts';
import { createProbes, type Probes } from '../probes/process-probes.ts';
import { assertSameKey, holdsSealed } from '../store/secrets/seal.ts';
import type { SchemaAccess } from '../store/engine/migrate.ts';
import type { Work } from '../store/engine/tx.ts';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';
import { SchemaMismatch } from '../store/engine/migrate.ts';
import { recordBroken } from '../store/audit/broken.ts';
import { isServed } from '../store/maintenance/leases.ts';
import { countActiveTokens } from '../store/access/tokens.ts';
import { VERSION } from '../version.ts';
import { createOnDemand, doctorOf, moduleOf, type OnDemand } from './services/on-demand.ts';
import { createOutsideChecker, keptFolders } from './outside.ts';
import { remembers } from './keying/witness.ts';

/** The longest wait of a follower, in milliseconds: the fallback where no wake-up arrives. */
const FOLLOW_FALLBACK_MS = 1_000;

/** What each program builds first: the data directory, the store, the key, and who follows jobs in this process. */
export interface Base extends OnDemand {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly paths: DataDirPaths;
  readonly store: Store;
  readonly followers: Followers;
  /** Read, or made, when it is first needed. */
  sealKey(): Promise<Buffer>;
  readonly seal: SealKeeper;
  readonly probes: Probes;
  /** Files and directories of the service that no job may write. */
  readonly keptFolders: readonly string[];
  close(): Promise<void>;
}

/** Throws Failure for faults that an operator can correct. */
export async function openBase(settings: Settings, schema: SchemaAccess = 'create'): Promise<Base> {
  const clock = systemClock;
  const prepared = await prepareDataDir(settings.dataDir);
  const paths = withSettings(prepared, settings);
  // Asked by writes, which come after the store is open.
  const storeNeedsKey = async (): Promise<boolean> =>
    (await countActiveTokens(store.db, clock.now())) > 0 ||
    (await holdsSealed(store.db)) ||
    // A second daemon that made another key would be refused, and leave a file that the next start takes for right.
    (settings.databaseUrl !== null && (await isServed(store)));
  const seal = createSealKeeper(paths.sealKey, storeNeedsKey);
  const store = await openStoreOf(settings, { paths, clock, schema, keyring: () => seal.keyring() });
  const followers = new Followers();
  const forget = store.onForeignCommit(() => followers.wakeAll());
  const endRecord = recordBroken(store);
  let key: Promise<Buffer> | null = null;
  const probes = createProbes(clock, settings);
  return {
    seal,
    ...createOnDemand(settings, paths, clock),
    probes,
    keptFolders: keptFolders(paths, settings),
    clock,
    settings,
    paths,
    store,
    followers,
    sealKey() {
      key ??= loadOrCreateSealKey(paths.sealKey, storeNeedsKey);
      // The next caller reads a corrected file again.
      key.catch(() => (key = null));
      return key;
    },
    async close() {
      forget();
      endRecord();
      followers.wakeAll();
      await probes.close();
      await store.close();
    },
  };
}

type StoreParts = Pick<StoreOptions, 'clock' | 'keyring'> & {
  readonly paths: DataDirPaths;
  readonly schema: SchemaAccess;
};

async function openStoreOf(settings: Settings, { paths, clock, schema, keyring }: StoreParts): Promise<Store> {
  const location = settings.databaseUrl === null ? { file: paths.database } : { url: settings.databaseUrl };
  // Names this process's ledger chain where every process has one: on a shared PostgreSQL.
  const daemonId = newId('dmn', clock.now());
  try {
    return await openStore({
      location,
      clock,
      daemonId,
      schema,
      keyring,
      wasAdopted: () => remembers({ paths, settings }, 'orders'),
    });
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof SchemaMismatch) throw new Failure('unavailable', error.message);
    const where =
      settings.databaseUrl === null ? `--data-dir: the store ${paths.database}` : '--database-url: the store';
    throw new Failure('unavailable', `${where} cannot be opened: ${reasonOf(error)}`);
  }
}

// The text of a driver's error may repeat the URL with its password; a code never does.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = errorCode(error);
  return code === null || code.startsWith('ERR_SQLITE') ? error.message : wordsOfCode(code);
}

export interface ServiceParts {
  readonly hasQueue: boolean;
  readonly startedAt: number | null;
  readonly wake: () => void;
  /** See QueueDeps; only the daemon has it. */
  readonly claimNow?: Work<void>;
  /** Where hooks and decision links lead where no public URL is set. */
  readonly ingressUrl: () => Promise<string>;
  readonly sandbox: DoctorParts['sandbox'];
  readonly listeners: DoctorParts['listeners'];
  readonly jobIdentity?: NonNullable<DoctorParts['jobIdentity']>;
  readonly checkSamples?: Services['checkSamples'];
  /** The number of notification targets; only the daemon has it. */
  readonly targets?: () => number;
  readonly reload?: NonNullable<Services['reload']>;
  /** Only the daemon has a log. */
  readonly onError?: Services['reaction']['onError'];
  /** The name of the daemon, once it has one. */
  readonly node?: Services['node'];
}

/** What operations ask of this process. */
export function createServices(base: Base, parts: ServiceParts): Services {
  const { clock, followers } = base;
  const { wake, claimNow } = parts;
  const queue = { wake, ...(claimNow === undefined ? {} : { claimNow }) };
  return {
    clock,
    server: {
      version: VERSION,
      hostname: hostname() || null,
      startedAt: parts.startedAt,
      timeZone: base.settings.timeZone,
    },
    hasQueue: parts.hasQueue,
    ...queue,
    announceJob: (jobId) => followers.wake(jobId),
    async jobChanged(jobId, signal) {
      const done = new AbortController();
      const cancel = clock.after(FOLLOW_FALLBACK_MS, () => done.abort());
      await followers.next(jobId, AbortSignal.any([signal, done.signal]));
      cancel();
    },
    node: parts.node ?? (() => null),
    programs: { here: thisMachine(), digest: async (program) => (await moduleOf('digest')).digestOf(program) },
    lockSeenAt: (id) => lockSeenAt(base.paths.instances, id, clock.now()),
    doctor: doctorOf(base.settings, { ...parts, clock, paths: base.paths, openedStore: () => base.store }),
    keyring: () => sameKey(base),
    seal: base.seal,
    sources: base.sources,
    hostKeys: base.hostKeys,
    outside: createOutsideChecker(base.keptFolders),
    paths: base.paths,
    checkSamples: parts.checkSamples ?? (() => []),
    openJobs: async () => (await moduleOf('openJobs')).readOpenJobs(base.store.db),
    ...(parts.reload === undefined ? {} : { reload: parts.reload }),
    reaction: {
      store: base.store,
      clock,
      ...queue,
      approvalTtlMs: base.settings.approvalTtlMs,
      rules: new CompiledRules(base.store, clock),
      turns: new TaskSlicer(clock),
      onError: parts.onError ?? (() => undefined),
    },
    prober: new Prober(clock, () => base.probes.deps()),
    probeBudget: probeBudget(base.settings.checkProbesPerSecond),
    netgroups: currentNetgroups(base.store, clock),
    approvalTtlMs: base.settings.approvalTtlMs,
    linkOrigin: async () => base.settings.publicUrl ?? parts.ingressUrl(),
    pushKey: async () => (await moduleOf('vapid')).vapidKeyOf(await base.sealKey()).publicKey,
    async hashToken(secret, salt) {
      const { hashToken } = await moduleOf('tokenHash');
      return hashToken(secret, salt, await base.sealKey());
    },
  };
}

/**
 * The key, once it is known to be that of the store: data sealed with another one could not be opened by other
 * processes.
 */
export async function sameKey({ seal, store }: Pick<Base, 'seal' | 'store'>): Promise<Keyring> {
  const ring = await seal.keyring();
  await assertSameKey(store, ring);
  return ring;
}

export function pathsOf(settings: Settings): DataDirPaths {
  return withSettings(dataDirPaths(settings.dataDir), settings);
}

/** Parts of the data directory that a setting puts elsewhere. */
function withSettings(paths: DataDirPaths, settings: Settings): DataDirPaths {
  const moved = Object.entries<DataDirEntry>(DATA_DIR_ENTRIES).flatMap(([key, { setting }]) =>
    setting === undefined || settings[setting] === null ? [] : [[key, settings[setting]]],
  );
  return { ...paths, ...(Object.fromEntries(moved) as Partial<DataDirPaths>) };
}
