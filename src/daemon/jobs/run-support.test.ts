import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { openTestStore, type TestStore } from '../../../test/support/store/job-store.ts';
import { NO_BOUNDS } from '../../../test/support/bounds/no-bounds.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { systemClock } from '../../lib/clock.ts';
import type { RecordedChunk } from '../../runners/output/chunk-queue.ts';
import type { RunSetup, RunReports } from '../../runners/run.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { checkedJob } from './checked-job.ts';
import { NO_RESULT, NOTHING_PREPARED, refusedRun, runKind, type RunKind, type WriteResult } from './run-support.ts';

type Checkpoint = (tx: Tx) => Promise<{ owned: boolean }>;

const nothing = (): Promise<void> => Promise.resolve();

async function openStore(t: TestContext): Promise<TestStore> {
  const on = await openTestStore();
  t.after(() => on.close());
  return on;
}

/** Prepares and runs one job that starts no program. */
async function runOne(on: TestStore, kind: RunKind, id: string, checkpoint?: (store: Checkpoint) => Promise<void>) {
  const job = checkedJob(await getJob(on.store.db, id));
  const chunks: RecordedChunk[] = [];
  const reports: RunReports<Checkpoint> = {
    firstSeq: 1,
    takeChild: () => null,
    leader: () => Promise.reject(new Error('no program is started')),
    write: (chunk) => Promise.resolve(void chunks.push(chunk)),
    partial: nothing,
    checkpoint: checkpoint ?? (async (store) => void (await on.store.write(store))),
  };
  const setup: RunSetup = {
    clock: systemClock,
    launcher: {
      launch: () => Promise.reject(new Error('not asked')),
      prepare: () => null,
      supported: () => Promise.reject(new Error('not asked')),
    },
    guard: { ready: nothing, watch: () => undefined, unwatch: () => undefined, renew: () => undefined, stop: nothing },
    bounds: NO_BOUNDS,
    sharedMemory: null,
    runsDir: on.runsDir,
    account: null,
    path: '/bin',
    lang: 'C.UTF-8',
  };
  const { signal } = new AbortController();
  const ran = await (await kind.prepare(on, job, signal))(setup, reports, signal);
  if (ran.lastChunk !== null) chunks.push(ran.lastChunk);
  const lines = chunks.flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 10 }));
  return { ran, lines: lines.map((line) => ('text' in line ? line.text : '')) };
}

/** Stores one number while it runs, and ends with another one. */
function counting(stored: number[]): RunKind {
  return runKind<unknown, string, number, number>(
    commandKind,
    {
      clearFiles: [],
      async run({ materials }, tools) {
        tools.say(`works on ${materials}`);
        await tools.checkpoint(1);
        return { state: 'succeeded', exitCode: 0, result: 2 };
      },
    },
    {
      prepare: () =>
        Promise.resolve({
          ...NOTHING_PREPARED,
          materials: 'a file',
          checkpoint: (_tx, value) => Promise.resolve({ owned: stored.push(value) > 0 }),
          finish: ({ result }): Promise<WriteResult> => {
            stored.push(result ?? 0);
            return Promise.resolve(NO_RESULT);
          },
        }),
    },
  );
}

test('A refused run says why in its output, and the job fails', async (t) => {
  const on = await openStore(t);
  const refusing: RunKind = {
    ...on.kinds.command,
    prepare: () => Promise.resolve(refusedRun('This job must not start.', 'failed')),
  };
  const { ran, lines } = await runOne(on, refusing, await on.job());
  assert.deepEqual(ran.end, { state: 'failed', exitCode: null, reason: 'This job must not start.' });
  assert.deepEqual(lines, ['This job must not start.']);
  assert.equal(await ran.finish(), NO_RESULT);
});

test('A run gets its materials, its checkpoints are stored, and its result is finished after it', async (t) => {
  const on = await openStore(t);
  const stored: number[] = [];
  const { ran, lines } = await runOne(on, counting(stored), await on.job());
  assert.deepEqual([stored, lines, readdirSync(on.runsDir)], [[1], ['works on a file'], []]);
  assert.equal(await ran.finish(), NO_RESULT);
  assert.deepEqual(stored, [1, 2]);
});

test('The run directory stays when a checkpoint could not be stored', async (t) => {
  const on = await openStore(t);
  const [stored, id, refused] = [[] as number[], await on.job(), new Error('the store is away')];
  await assert.rejects(
    runOne(on, counting(stored), id, () => Promise.reject(refused)),
    refused,
  );
  assert.ok(readdirSync(on.runsDir).includes(id));
});
