/** What operations work with in a program of a test: real where it is cheap, made up where it would reach outside. */
import { dataDirPaths } from '../../src/config/data-dir.ts';
import { type Clock } from '../../src/lib/clock.ts';
import type { Followers } from '../../src/lib/flow/followers.ts';
import { randomBytes } from '../../src/lib/random.ts';
import { createKeyring, type SealFileKey, type SealKeeper } from '../../src/lib/seal.ts';
import { TaskSlicer } from '../../src/lib/flow/cooperative.ts';
import type { Authenticator } from '../../src/operations/access/authenticate.ts';
import type { Services } from '../../src/operations/core/services.ts';
import { probeBudget } from '../../src/operations/checks/probe-budget.ts';
import { Prober } from '../../src/operations/checks/prober.ts';
import { CompiledRules } from '../../src/reaction/rules/compiled-rules.ts';
import { readOpenJobs } from '../../src/store/jobs/open-jobs.ts';
import { currentNetgroups } from '../../src/store/netgroups/netgroups.ts';
import { vapidKeyOf } from '../../src/push/vapid.ts';
import { probeDeps } from '../../src/probes/deps.ts';
import type { Store } from '../../src/store/store.ts';

const DOCTOR_ENTRIES = [{ name: 'store', status: 'ok', detail: 'made up for a test' }] as const;

/** As the key file, in memory: the first key is that of the tokens, rotating adds one. */
export function memorySealKeeper(clock: Clock, sealKey: Buffer): SealKeeper {
  const keys: SealFileKey[] = [{ key: sealKey, createdAt: null }];
  let ring = createKeyring(keys);
  return {
    keyring: () => Promise.resolve(ring),
    find: () => Promise.resolve(ring),
    text: () => Promise.reject(new Error('there is no key file')),
    rotate() {
      keys.push({ key: randomBytes(32), createdAt: clock.now() });
      ring = createKeyring(keys);
      return Promise.resolve(ring);
    },
  };
}

interface Fakes {
  readonly store: Store;
  readonly seal: SealKeeper;
  readonly followers: Followers;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly hasQueue: boolean;
  readonly wake: () => void;
  readonly prober?: Prober | undefined;
  readonly probesPerSecond?: number | undefined;
}

export function fakeServices(fakes: Fakes): Services {
  const { store, seal, followers, clock, authenticator, hasQueue, wake } = fakes;
  const { prober = new Prober(clock, () => Promise.resolve(probeDeps({ clock, ca: [] }))) } = fakes;
  return {
    clock,
    server: { version: '0.0.0-test', hostname: 'test-host', startedAt: Date.UTC(2026, 0, 1), timeZone: 'UTC' },
    checkSamples: () => [],
    openJobs: () => readOpenJobs(store.db),
    hasQueue,
    wake,
    jobChanged: (jobId, signal) => followers.next(jobId, signal),
    announceJob: (jobId) => followers.wake(jobId),
    doctor: () => Promise.resolve(DOCTOR_ENTRIES),
    hashToken: (secret, salt) => authenticator.hashToken(secret, salt),
    keyring: () => seal.keyring(),
    seal,
    sources: {
      fetch: ({ kind }) => Promise.resolve({ commit: kind === 'git' ? 'c'.repeat(40) : null, dirKept: null }),
      treeOf: () => Promise.resolve(null),
      digestOf: () => Promise.reject(new Error('there are no sources')),
      wholeDigestOf: () => Promise.reject(new Error('there are no sources')),
      remove: () => Promise.resolve(),
      hooksFile: () => Promise.resolve(null),
      hasFile: () => Promise.resolve(true),
      hookNames: () => Promise.resolve([]),
    },
    node: () => null,
    programs: {
      here: { host: 'test-host', bootId: 'test-boot', isRunning: () => true },
      digest: () => Promise.resolve('test-digest'),
    },
    lockSeenAt: () => clock.now(),
    hostKeys: { scan: () => Promise.reject(new Error('no hosts')) },
    outside: { check: () => undefined },
    paths: dataDirPaths('/nowhere'),
    reaction: {
      store,
      clock,
      wake,
      approvalTtlMs: 3_600_000,
      rules: new CompiledRules(store, clock),
      turns: new TaskSlicer(clock),
      onError: () => undefined,
    },
    prober,
    probeBudget: probeBudget(fakes.probesPerSecond ?? 2_000),
    netgroups: currentNetgroups(store, clock),
    approvalTtlMs: 3_600_000,
    linkOrigin: () => Promise.resolve('http://127.0.0.1:8421'),
    pushKey: () => Promise.resolve(vapidKeyOf(Buffer.alloc(32)).publicKey),
  };
}
