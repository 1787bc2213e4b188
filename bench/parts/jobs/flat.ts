import { join } from 'node:path';
import { claim } from '../../../src/daemon/jobs/job-transitions.ts';
import { prepareEnd } from '../../../src/daemon/jobs/run-end.ts';
import { NO_RESULT } from '../../../src/daemon/jobs/run-support.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import type { Work } from '../../../src/store/engine/tx.ts';
import { fenceOf } from '../../../src/store/jobs/claims.ts';
import { insertJob } from '../../../src/store/jobs/jobs.ts';
import { insertDaemon } from '../../../src/store/maintenance/daemons.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { reactionOf } from '../../../test/support/fixtures/reaction.ts';
import { testKeyring } from '../../../test/support/seal.ts';
import type { Bench } from '../../kit/bench.ts';
import { addJobs, runbookOf, SPEC } from '../../kit/filled.ts';
import { addHistory } from '../../kit/history.ts';
import { removeDir, tempDir } from '../../kit/scratch.ts';
import { median } from '../../kit/statistics.ts';
import { monotonicMs } from '../../kit/time.ts';

const SIZES = { few: 10_000, many: 1_000_000 } as const;
/** In each store, before and after each round. */
const QUEUED = 1_000;
/** So that a round writes to as many places of the index by runbook as it has jobs. */
const RUNBOOKS = 100;
/** Jobs of a round that share a commit: what the gate groups at most is twice that. */
const GROUP = 64;
/** Jobs of a round with a commit for each step. */
const SINGLE = 8;
const WARM_UP_ROUNDS = 10;
const MOST_RATIO = 1.1;
const CLAIMER = { id: 'dmn_bench', node: 'here' };

type Size = keyof typeof SIZES;
const STEPS = ['enqueue', 'claim', 'end'] as const;
type Step = (typeof STEPS)[number];

interface Filled {
  readonly store: Store;
  readonly reaction: ReactionDeps;
}

async function openFilled(dir: string, size: Size): Promise<Filled> {
  const file = join(dir, `${size}.db`);
  const before = monotonicMs();
  await addJobs(file, SIZES[size], 'ended', RUNBOOKS);
  addHistory(file);
  await addJobs(file, QUEUED, 'queued', RUNBOOKS);
  const seconds = ((monotonicMs() - before) / 1000).toFixed(0);
  process.stdout.write(`  (${SIZES[size].toLocaleString('en-US')} ended jobs made in ${seconds} s)\n`);
  const options = { location: { file }, clock: systemClock, daemonId: CLAIMER.id, keyring: testKeyring };
  const store = await openStore(options);
  const row = { host: 'bench', boot_id: 'bench', pid: process.pid, version: 'bench' };
  const times = { lease_until: null, stopped_at: null };
  await store.write((tx) => insertDaemon(tx, { id: CLAIMER.id, started_at: tx.now, ...row, ...times }));
  return { store, reaction: reactionOf(store) };
}

function enqueue(index: number): Work<void> {
  return async (tx) => {
    const id = newId('job', tx.now);
    await insertJob(tx, {
      id,
      kind: 'command',
      state: 'queued',
      runbook: runbookOf(index, RUNBOOKS),
      source: null,
      trigger: 'api',
      workspace: null,
      concurrencyKey: null,
      privileged: false,
      createdAt: tx.now,
      requestedBy: 'ci',
      owners: ['ci'],
      redriveOf: null,
      spec: SPEC,
      timeoutMs: 60_000,
    });
    tx.record({ principal: 'ci', owner: 'ci', via: 'http', operation: 'command.run', target: id, detail: {} });
  };
}

async function claimOne(tx: Parameters<Work<void>>[0]): Promise<JobRow> {
  const [claimed] = await claim(tx, CLAIMER, 1);
  if (claimed === undefined) throw new Error('nothing to claim');
  return claimed.row;
}

/** The end of a run as the daemon writes it: the job, its last chunk, the ledger, and the event, which has no rule. */
async function endOf(reaction: ReactionDeps, row: JobRow): Promise<Work<void>> {
  const final = { state: 'succeeded', exitCode: 0, reason: null } as const;
  const ending = { fence: fenceOf(row), final, lastChunk: null, result: NO_RESULT, next: null };
  const write = await prepareEnd(reaction, row, ending);
  return async (tx) => {
    if ((await write(tx, false)) !== 'ended') throw new Error(`${row.id} did not end`);
  };
}

/** Spent by one round on each step, in microseconds for each job. */
type Spent = Record<Step, number>;

/** Processor time, because the flush of a commit is that of the disk, whatever the size of the store. */
async function groupRound({ store, reaction }: Filled): Promise<Spent> {
  const indexes = Array.from({ length: GROUP }, (_, i) => i);
  const rows: JobRow[] = [];
  const enqueued = await processorUs(() =>
    store.write(async (tx) => {
      for (const index of indexes) await enqueue(index)(tx);
    }),
  );
  const claimed = await processorUs(() =>
    store.write(async (tx) => {
      for (let i = 0; i < GROUP; i += 1) rows.push(await claimOne(tx));
    }),
  );
  const ended = await processorUs(async () => {
    const ends: Work<void>[] = [];
    for (const row of rows) ends.push(await endOf(reaction, row));
    await store.write(async (tx) => {
      for (const end of ends) await end(tx);
    });
  });
  return { enqueue: enqueued / GROUP, claim: claimed / GROUP, end: ended / GROUP };
}

/** Of the process: the kernel knows that of a running thread only as of its last tick. */
async function processorUs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function singleJob({ store, reaction }: Filled, index: number): Promise<Spent> {
  const times = [monotonicMs()];
  await store.write(enqueue(index));
  times.push(monotonicMs());
  const row = await store.write(claimOne);
  times.push(monotonicMs());
  await store.write(await endOf(reaction, row));
  times.push(monotonicMs());
  const [from = 0, enqueued = 0, claimed = 0, ended = 0] = times;
  return { enqueue: (enqueued - from) * 1000, claim: (claimed - enqueued) * 1000, end: (ended - claimed) * 1000 };
}

interface Samples {
  readonly grouped: Record<Size, Spent[]>;
  readonly single: Record<Size, Spent[]>;
}

/** In turn, and each size first in every second round: a disturbance and what a first one leaves behind meet both. */
async function sample(filled: Readonly<Record<Size, Filled>>, rounds: number): Promise<Samples> {
  const samples: Samples = { grouped: { few: [], many: [] }, single: { few: [], many: [] } };
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    const sizes: readonly Size[] = round % 2 === 0 ? ['few', 'many'] : ['many', 'few'];
    for (const size of sizes) {
      const spent = await groupRound(filled[size]);
      if (round >= 0) samples.grouped[size].push(spent);
    }
    for (let i = 0; i < SINGLE; i += 1) {
      for (const size of sizes) {
        const spent = await singleJob(filled[size], i);
        if (round >= 0) samples.single[size].push(spent);
      }
    }
  }
  return samples;
}

/** Enqueue, claim and end of a job beside many that have ended, with all their rows. */
export async function flat({ report, quick }: Bench): Promise<void> {
  const dir = tempDir('flat');
  const filled = { few: await openFilled(dir, 'few'), many: await openFilled(dir, 'many') };
  try {
    const { grouped, single } = await sample(filled, quick ? 120 : 400);
    const kinds = [
      { of: grouped, name: `${GROUP} in a commit, processor`, unit: 'µs', divisor: 1 },
      { of: single, name: 'a commit each', unit: 'ms', divisor: 1000 },
    ] as const;
    for (const { of, name, unit, divisor } of kinds) {
      for (const step of STEPS) {
        const [few, many] = [of.few, of.many].map((all) => median(all.map((spent) => spent[step])) / divisor);
        report.add({
          name: `${step} beside 1,000,000 ended jobs, ${name}: p50`,
          value: many ?? Number.NaN,
          unit,
          floor: { name: 'beside 10,000', value: few ?? Number.NaN },
          goal: { ratioAtMost: MOST_RATIO },
        });
      }
    }
  } finally {
    await Promise.all([filled.few.store.close(), filled.many.store.close()]);
    removeDir(dir);
  }
}
