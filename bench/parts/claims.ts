import { join } from 'node:path';
import type { Claimed } from '../children/orders.ts';
import { rawInsertsPerSecond } from '../floors/insert.ts';
import { claim } from '../../src/daemon/jobs/job-transitions.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { testKeyring } from '../../test/support/seal.ts';
import { insertDaemon } from '../../src/store/maintenance/daemons.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { Bench } from '../kit/bench.ts';
import { openChild } from '../kit/child.ts';
import { addJobs } from '../kit/filled.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

const FEW = 100;
const MANY = 100_000;
const PROCESSES = 4;
/** Claims that are timed together. The short queue is filled up in between, and never empty. */
const BLOCK = 50;
const DAEMON = 'dmn_bench';

async function openQueue(file: string, jobs: number): Promise<Store> {
  await addJobs(file, jobs, 'queued');
  const store = await openStore({ location: { file }, clock: systemClock, daemonId: DAEMON, keyring: testKeyring });
  const row = {
    host: 'bench',
    boot_id: 'bench',
    pid: process.pid,
    version: 'bench',
    lease_until: null,
    stopped_at: null,
  };
  await store.write((tx) => insertDaemon(tx, { id: DAEMON, started_at: tx.now, ...row }));
  return store;
}

async function claimBlock(store: Store): Promise<number> {
  const before = monotonicMs();
  for (let i = 0; i < BLOCK; i += 1) {
    const rows = await store.write((tx) => claim(tx, { id: DAEMON, node: 'here' }, 1));
    if (rows.length !== 1) throw new Error('nothing to claim');
  }
  return monotonicMs() - before;
}

async function againstBacklog({ report, quick }: Bench, dir: string): Promise<void> {
  const blocks = quick ? 15 : 60;
  const short = await openQueue(join(dir, 'short.db'), FEW);
  const long = await openQueue(join(dir, 'long.db'), MANY);
  const spent = { short: 0, long: 0 };
  try {
    for (let block = 0; block < blocks; block += 1) {
      spent.short += await claimBlock(short);
      spent.long += await claimBlock(long);
      await addJobs(join(dir, 'short.db'), BLOCK, 'queued');
    }
  } finally {
    await Promise.all([short.close(), long.close()]);
  }
  const perSecond = (ms: number): number => (blocks * BLOCK) / (ms / 1000);
  const floor = { name: `claims with ${FEW} queued`, value: perSecond(spent.short) };
  const raw = { name: 'raw inserts, a commit each', value: rawInsertsPerSecond(500) };
  report.add({ name: 'claims with 100 queued, one a commit', value: floor.value, unit: '/s', floor: raw });
  report.add({
    name: 'claims with 100,000 queued, one a commit',
    value: perSecond(spent.long),
    unit: '/s',
    floor,
    goal: { ratioAtLeast: 0.8 },
  });
}

/** `slots` is what a claim takes at most: 8 in a daemon by default, 1 is a daemon that is full but for one. */
async function fourProcesses({ report, quick }: Bench, dir: string, slots: number): Promise<void> {
  const file = join(dir, `shared-${slots}.db`);
  await addJobs(file, quick ? 2_000 : 10_000, 'queued');
  const claimers = Array.from({ length: PROCESSES }, () => openChild<unknown>('children/claimer.ts'));
  try {
    for (const each of claimers) await each.ask({ file, slots });
    const result = (await Promise.all(claimers.map((each) => each.ask('go')))) as Claimed[];
    const ids = result.flatMap((each) => each.ids);
    const seconds = (Math.max(...result.map((each) => each.to)) - Math.min(...result.map((each) => each.from))) / 1000;
    const raw = { name: 'raw inserts, a commit each', value: rawInsertsPerSecond(500) };
    const shares = result.map((each) => each.ids.length).join(', ');
    const name = `4 processes claim on one SQLite, up to ${slots} a commit`;
    report.add({ name, note: shares, value: ids.length / seconds, unit: '/s', floor: raw, goal: { atLeast: 2_000 } });
    report.add({
      name: `4 processes, ${slots} a commit: refused as busy`,
      value: result.reduce((sum, each) => sum + each.refused, 0),
      unit: '',
      goal: { atMost: 0 },
    });
    report.add({
      name: `4 processes, ${slots} a commit: claimed twice`,
      value: ids.length - new Set(ids).size,
      unit: '',
      goal: { atMost: 0 },
    });
  } finally {
    await Promise.all(claimers.map((each) => each.end()));
  }
}

/** Taking jobs off the queue, without running them. */
export async function claims(bench: Bench): Promise<void> {
  const dir = tempDir('claims');
  await againstBacklog(bench, dir);
  await fourProcesses(bench, dir, 8);
  await fourProcesses(bench, dir, 1);
  removeDir(dir);
}
