/** A healthy installation in a temporary directory, for the tests of the doctor. */
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataDirPaths, prepareDataDir } from '../../src/config/data-dir.ts';
import { createSealKeeper } from '../../src/config/seal-keeper.ts';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { HandClock } from './clock.ts';
import { insertJob } from '../../src/store/jobs/jobs.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { DoctorParts } from '../../src/doctor/entry.ts';
import { placeStore } from './store/template.ts';

/** Any moment after the earliest that the doctor takes for a clock that was set. */
export const WALL_MS = Date.UTC(2026, 10, 21, 12);

/** What jobs of root run as. No account of this machine: no process of another test has it. */
const OTHER_ACCOUNT = { name: 'gatehouse-job', uid: 64_321, gid: 64_321 };

export interface Installation {
  readonly clock: HandClock;
  readonly paths: DataDirPaths;
  readonly store: Store;
  /** The parts of a healthy doctor, with what a test wants otherwise. */
  parts(otherwise?: Partial<DoctorParts>): DoctorParts;
  /** Empties the write-ahead log of SQLite into its file. May be called before `remove`. */
  closeStore(): Promise<void>;
  remove(): Promise<void>;
}

/** A prepared data directory with its seal key and an open store: SQLite, or the PostgreSQL database at `url`. */
export async function install(url?: string): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-doctor-'));
  const clock = new HandClock(WALL_MS);
  const paths = await prepareDataDir(join(root, 'data'));
  const seal = createSealKeeper(paths.sealKey, () => false);
  await seal.keyring();
  const location = url === undefined ? { file: placeStore(paths.database) } : { url };
  // The store gets the real clock: its waits for other processes must end.
  const store = await openStore({
    location,
    clock: { ...systemClock, now: () => clock.now() },
    daemonId: 'dmn_doctor',
    keyring: () => seal.keyring(),
  });
  const listener = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', () => resolve()));
  const healthy: DoctorParts = {
    clock,
    paths,
    settings: { ...readSettings({ 'data-dir': paths.dir }, {}), keepJobsMs: 0, keepEventsMs: 0 },
    openedStore: () => store,
    sandbox: () => Promise.resolve({ status: 'ok', detail: 'Landlock 6, seccomp.' }),
    jobIdentity: { account: process.geteuid?.() === 0 ? OTHER_ACCOUNT : null, isFallback: false },
    isOfJob: () => false,
    here: { host: 'test-host', bootId: 'test-boot', isRunning: () => true },
    listeners: () => [{ name: 'web', url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` }],
    targets: () => null,
    path: '',
  };
  let closing: Promise<void> | null = null;
  const closeStore = (): Promise<void> => (closing ??= store.close());
  return {
    clock,
    paths,
    store,
    parts: (otherwise = {}) => ({ ...healthy, ...otherwise }),
    closeStore,
    async remove() {
      await closeStore();
      await new Promise((resolve) => listener.close(resolve));
      await rm(root, { recursive: true });
    },
  };
}

/** Queues `count` jobs, each with its ledger row; ids and times are fixed, so that the files of two runs are alike. */
export async function queueJobs(
  store: Store,
  count: number,
  job: { privileged?: boolean; createdAt?: number } = {},
): Promise<void> {
  const makeOne = (i: number): Promise<void> =>
    store.write(async (tx) => {
      const mark = `${job.privileged === true ? 'p' : 'j'}${job.createdAt ?? tx.now}`;
      const id = `job_${mark}${String(i).padStart(25 - mark.length, '0')}`;
      await insertJob(tx, {
        id,
        kind: 'command',
        state: 'queued',
        runbook: 'command',
        source: null,
        trigger: 'api',
        workspace: null,
        concurrencyKey: null,
        privileged: job.privileged ?? false,
        createdAt: job.createdAt ?? tx.now,
        requestedBy: 'ci',
        owners: ['ci'],
        redriveOf: null,
        spec: JSON.stringify({ inventory: 'localhost', command: ['sleep', String(i)] }),
        timeoutMs: 60_000,
      });
      tx.record({
        principal: 'ci',
        owner: 'ci',
        via: 'api',
        operation: 'command.run',
        target: id,
        detail: { job_id: id },
      });
    });
  await Promise.all(Array.from({ length: count }, (_, i) => makeOne(i)));
}
