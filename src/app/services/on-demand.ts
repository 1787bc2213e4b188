import { lstat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { missingCapabilities } from '../../config/account-rights.ts';
import { isOurs, type DataDirPaths } from '../../config/data-dir.ts';
import { runsDirOf, sharedRunsDirs } from '../../config/runs-dir.ts';
import { processEnvironment, type Settings } from '../../config/settings/settings.ts';
import { thisMachine } from '../../daemon/core/identity.ts';
import type { DoctorParts } from '../../doctor/entry.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HostKeyScanner } from '../../operations/inventories/services.ts';
import type { Services } from '../../operations/core/services.ts';
import type { SourceFetcher } from '../../operations/sources/services.ts';
import type { GitPlace } from '../../runners/checkout/git/place.ts';
import type { Launcher } from '../../runners/launch/launch.ts';

/** Modules that few verbs of the command line use. Together they cost more than the rest of most verbs. */
const MODULES = {
  digest: () => import('../../config/program/digest.ts'),
  doctor: () => import('../../doctor/doctor.ts'),
  hostKeys: () => import('./host-keys.ts'),
  ingressUrl: () => import('../ingress-url.ts'),
  jobAccount: () => import('../../config/job-account.ts'),
  launch: () => import('../../runners/launch/launch.ts'),
  mark: () => import('../../runners/sandbox/mark.ts'),
  openJobs: () => import('../../store/jobs/open-jobs.ts'),
  reload: () => import('../../operations/maintenance/request-reload.ts'),
  sandbox: () => import('../sandbox-support.ts'),
  sources: () => import('../sources.ts'),
  tokenHash: () => import('../../operations/access/token-hash.ts'),
  vapid: () => import('../../push/vapid.ts'),
};

/** What areas keep of sources beside the runs: it is removed with its source. */
const KEPT_OF_SOURCES: readonly (() => Promise<KeptOfSource>)[] = [
  () => import('../../runners/vendor/vendored-files.ts'),
];

/** A module for one call of a service. */
export function moduleOf<N extends keyof typeof MODULES>(name: N): ReturnType<(typeof MODULES)[N]>;
export function moduleOf(name: keyof typeof MODULES): Promise<unknown> {
  return MODULES[name]();
}

/** For a program that stays: the files of its modules may have been replaced by those of another build later. */
export async function loadModules(): Promise<void> {
  await Promise.all([...Object.values(MODULES), ...KEPT_OF_SOURCES].map((load) => load()));
}

interface KeptOfSource {
  removeOfSource(runsDir: string, name: string, clock: Clock): Promise<void>;
}

/** Services of those modules. */
export interface OnDemand {
  readonly sources: SourceFetcher;
  readonly hostKeys: HostKeyScanner;
}

export function createOnDemand(settings: Settings, paths: DataDirPaths, clock: Clock): OnDemand {
  const place = (): Promise<GitPlace | null> => findGitPlace(settings, paths);
  const launcher = once(async (): Promise<Launcher> => {
    const { createLauncher } = await moduleOf('launch');
    return createLauncher({ allowUnfilteredEgress: settings.allowUnfilteredEgress });
  });
  const sources = once(async (): Promise<SourceFetcher> => {
    const { createSourceFetcher } = await moduleOf('sources');
    const runsDirs = sharedRunsDirs(settings.runsDir);
    return createSourceFetcher(
      { sourcesDir: paths.sources, place, runsDirs, machine: machineOf(settings) },
      await launcher(),
    );
  });
  return {
    sources: {
      fetch: async (...given) => (await sources()).fetch(...given),
      treeOf: async (...given) => (await sources()).treeOf(...given),
      hooksFile: async (tree) => (await sources()).hooksFile(tree),
      hasFile: async (...given) => (await sources()).hasFile(...given),
      hookNames: async (...given) => (await sources()).hookNames(...given),
      digestOf: async (...given) => (await sources()).digestOf(...given),
      wholeDigestOf: async (...given) => (await sources()).wholeDigestOf(...given),
      async remove(name) {
        await (await sources()).remove(name);
        // Where this process cannot, the next job that fetches some does it.
        const runsDir = (await place())?.folder ?? settings.runsDir ?? paths.runs;
        for (const load of KEPT_OF_SOURCES) await (await load()).removeOfSource(runsDir, name, clock);
      },
    },
    hostKeys: {
      async scan(target) {
        const { createHostKeyScanner } = await moduleOf('hostKeys');
        return createHostKeyScanner(await launcher(), place).scan(target);
      },
    },
  };
}

/** The machine among those of a store. A store in a file has one, which may get another name with each container. */
function machineOf({ databaseUrl }: Settings): string {
  return databaseUrl === null ? 'here' : hostname();
}

/**
 * Null where jobs run as this account, where no daemon has made the account and the directory of the runs yet, and
 * where this process may not become the account: a verb on the machine has fewer rights than its daemon.
 */
async function findGitPlace(settings: Settings, paths: DataDirPaths): Promise<GitPlace | null> {
  const { findJobAccount, isRoot } = await moduleOf('jobAccount');
  if (!isRoot() && missingCapabilities().length > 0) return null;
  const account = (await findJobAccount(settings.jobUser))?.account ?? null;
  if (account === null) return null;
  const folder = runsDirOf(settings.runsDir, paths, account);
  const stats = await lstat(folder).catch(() => null);
  return stats?.isDirectory() === true && isOurs(stats) ? { account, folder } : null;
}

/** The doctor also works where the rest could not be opened: `openedStore` throws the reason then. */
export function doctorOf(
  settings: Settings,
  parts: Omit<DoctorParts, 'settings' | 'path' | 'targets' | 'isOfJob' | 'here'> & { readonly targets?: () => number },
): Services['doctor'] {
  // It compares the clocks from the start of the process on.
  const began = { wallMs: parts.clock.now(), monotonicMs: parts.clock.monotonic() };
  const doctor = once(async () => {
    const [{ createDoctor }, { markIn }] = await Promise.all([moduleOf('doctor'), moduleOf('mark')]);
    const path = processEnvironment()['PATH'] ?? '';
    const targets = parts.targets ?? (() => null);
    const isOfJob = (pid: number): boolean => markIn(pid) !== null;
    return createDoctor({ ...parts, targets, isOfJob, here: thisMachine(), settings, path }, began);
  });
  return async () => (await doctor())();
}

/** The value of the first call. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => (loaded ??= load());
}
