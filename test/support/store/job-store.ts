/** A store on a fresh SQLite file with what the daemon's own tests put into it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirPaths } from '../../../src/config/data-dir.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { testKeyring } from '../seal.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { insertDaemon } from '../../../src/store/maintenance/daemons.ts';
import { insertJob, type NewJob } from '../../../src/store/jobs/jobs.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { RUN_SUPPORT } from '../../../src/daemon/kinds.ts';
import type { RunDeps } from '../../../src/daemon/jobs/run-support.ts';
import { placeStore } from './template.ts';

export interface TestStore extends RunDeps {
  readonly store: Store;
  readonly instancesDir: string;
  /** Records a daemon whose lock is free. Returns its id. */
  daemon(machine?: { host: string; bootId: string }, node?: string): Promise<string>;
  /** Queues a command, or what `more` makes of it, and answers its id. */
  job(key?: string | null, more?: Partial<NewJob>): Promise<string>;
  close(): Promise<void>;
}

const RING = createKeyring([{ key: Buffer.alloc(32, 7), createdAt: null }]);

export const HERE = { host: 'here', bootId: 'boot' };

/** On `given`, which the caller closes, or on a fresh store. */
export async function openTestStore(given: Store | null = null): Promise<TestStore> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-daemon-'));
  const paths = dataDirPaths(dir);
  const { runs: runsDir, instances: instancesDir } = paths;
  for (const folder of [runsDir, instancesDir]) mkdirSync(folder);
  const store =
    given ??
    (await openStore({
      location: { file: placeStore(join(dir, 'store.db')) },
      clock: systemClock,
      daemonId: 'test',
      keyring: testKeyring,
    }));
  return {
    store,
    clock: systemClock,
    account: null,
    settings: readSettings({ 'data-dir': dir }, {}),
    paths,
    kinds: RUN_SUPPORT,
    // For runs that call no operation.
    services: null as never,
    keyring: () => Promise.resolve(RING),
    sources: { treeOf: () => Promise.resolve(null), fetch: () => Promise.reject(new Error('there are no sources')) },
    runsDir,
    instancesDir,
    async daemon(machine = HERE, node) {
      const id = newId('dmn', systemClock.now());
      const row = {
        id,
        host: machine.host,
        boot_id: machine.bootId,
        pid: 1,
        version: '0',
        started_at: 0,
        lease_until: null,
        stopped_at: null,
        ...(node === undefined ? {} : { node }),
      };
      await store.write((tx) => insertDaemon(tx, row));
      return id;
    },
    job: (key = null, more = {}) => store.write((tx) => insertCommand(tx, key, more)),
    async close() {
      if (given === null) await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Queues a command in a write of the caller. */
export async function insertCommand(
  tx: Parameters<typeof insertJob>[0],
  key: string | null,
  more: Partial<NewJob>,
): Promise<string> {
  const id = newId('job', tx.now);
  await insertJob(tx, {
    id,
    kind: 'command',
    state: 'queued',
    runbook: 'command:localhost',
    source: null,
    trigger: 'cli',
    workspace: null,
    concurrencyKey: key,
    privileged: false,
    createdAt: tx.now,
    requestedBy: 'test',
    owners: ['test'],
    redriveOf: null,
    spec: JSON.stringify({ inventory: 'localhost', limit: null, command: ['/bin/true'], egressPorts: [] }),
    timeoutMs: 60_000,
    ...more,
  });
  return id;
}
