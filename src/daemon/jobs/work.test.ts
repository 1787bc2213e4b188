import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { workspaceRow } from '../../../test/support/fixtures/workspace-row.ts';
import { Failure } from '../../domain/failure.ts';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import type { RunSetup } from '../../runners/run.ts';
import type { LaunchRequest } from '../../runners/sandbox/pool.ts';
import type { Exit, Launched } from '../../runners/sandbox/launcher-process.ts';
import { chunksAfter } from '../../store/jobs/chunks.ts';
import { getJob, requestCancel } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { createSignals, type Signals } from '../core/signals.ts';
import { insertSource } from '../../store/sources/sources.ts';
import { insertWorkspace } from '../../store/workspaces/workspaces.ts';
import { openTestStore, type TestStore } from '../../../test/support/store/job-store.ts';
import { Work } from './work.ts';

/** No process has this pid: the kernel gives numbers below 4,194,304. */
const NO_PID = 5_000_000;

/** Pauses are a hundredth of what they are. */
const hastyClock: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(ms / 100, fire) };

interface Scene extends TestStore {
  readonly work: Work;
  readonly signals: Signals;
  readonly self: string;
  /** The programs that were launched, each with the end that the test gives it. */
  readonly programs: { request: LaunchRequest; exit: (exit: Exit) => void; print: (text: string) => void }[];
  /** How many runs there were when a slot became free. */
  readonly freed: number[];
  overdue: boolean;
  /** Thrown by the next writes of the run, one after the other. */
  readonly refusals: unknown[];
  /** So many of the next writes of the run are committed, and their answer is lost. */
  lostAnswers: number;
  row(id: string): Promise<JobRow>;
}

async function scene(
  t: TestContext,
  { maxJobs = 1, ...more }: { maxJobs?: number } & Partial<TestStore> = {},
): Promise<Scene> {
  const setup = { ...(await openTestStore()), ...more };
  t.after(() => setup.close());
  const self = await setup.daemon();
  const refusals: unknown[] = [];
  const programs: Scene['programs'] = [];
  const freed: number[] = [];
  const signals = createSignals();
  const store: Store = {
    ...setup.store,
    write: async (body) => {
      if (programs.length > 0 && refusals.length > 0) throw refusals.shift();
      const answer = await setup.store.write(body);
      if (programs.length === 0 || on.lostAnswers === 0) return answer;
      on.lostAnswers -= 1;
      throw new Failure('unavailable', 'lost');
    },
  };
  const on: Scene = {
    ...setup, self, signals, programs, freed, refusals, lostAnswers: 0, overdue: false,
    row: (id) => getJob(setup.store.db, id),
    work: new Work({
      ...setup,
      store,
      setup: runSetup(setup.runsDir, programs),
      maxJobs,
      announceJob: () => undefined,
      signals,
      self: () => self,
      isOverdue: () => on.overdue,
      onFree: () => void freed.push(on.work.running),
    }),
  }; // prettier-ignore
  return on;
}

function runSetup(runsDir: string, programs: Scene['programs']): RunSetup {
  const launch = async (request: LaunchRequest): Promise<Launched> => {
    const { promise: exited, resolve } = Promise.withResolvers<Exit>();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const leader = { pid: NO_PID, startTicks: 1 };
    await request.beforeStart?.({ ...leader, output: null });
    const exit = (end: Exit): void => {
      stdout.end();
      stderr.end();
      resolve(end);
    };
    programs.push({ request, exit, print: (text) => void stdout.write(text) });
    return { ...leader, stdout, stderr, started: Promise.resolve(), exited };
  };
  return {
    clock: hastyClock,
    pool: { launch, supported: () => Promise.reject(new Error('not asked')), stop: nothing },
    guard: { ready: nothing, watch: () => undefined, unwatch: () => undefined, renew: () => undefined, stop: nothing },
    runsDir,
    account: null,
    path: '/bin',
    lang: 'C.UTF-8',
  };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

/** Claims one job and waits until its program is launched. */
async function begin(on: Scene): Promise<string> {
  const id = await on.job();
  await on.work.claimOnce();
  await until(() => on.programs.length === 1);
  return id;
}

async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setImmediate(resolve));
}

function end(on: Scene, exitCode: number | null, signal: NodeJS.Signals | null = null): void {
  on.programs[0]?.exit({ exitCode, signal });
}

describe('the work of a daemon', () => {
  test('a slot is told to be free only when it is', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    await on.job();
    await on.work.claimOnce();
    assert.equal(on.programs.length, 1, 'one slot, one run');
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.deepEqual([on.freed, (await on.row(id)).state, readdirSync(on.runsDir)], [[0], 'succeeded', []]);
  });

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [3, 'failed'],
  ] as const) {
    test(`a program that ends with ${exitCode} ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      const { state: found, exit_code: code } = await on.row(id);
      assert.deepEqual([found, code], [state, exitCode]);
    });
  }

  test('a cancel that was asked for ends the run as cancelled', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    await on.store.write((tx) => requestCancel(tx, id));
    await on.work.cancelOnce();
    end(on, null, 'SIGTERM');
    await until(() => on.freed.length > 0);
    const { state, exit_code: code } = await on.row(id);
    assert.deepEqual([state, code], ['cancelled', 143]);
  });

  test('a stop ends the runs as interrupted, waits for them, and claims nothing more', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    const next = await on.job();
    // As systemd stops a service: the program gets its signal from there, and may be gone before it is told.
    on.work.close();
    const stopped = on.work.stopAll('shutdown');
    end(on, null, 'SIGTERM');
    await stopped;
    await on.work.claimOnce();
    assert.deepEqual([(await on.row(id)).state, (await on.row(next)).state], ['interrupted', 'queued']);
  });

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [3, 'failed'],
    [143, 'interrupted'],
  ] as const) {
    test(`a program that ends with ${exitCode} while the daemon stops ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      on.work.close();
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      assert.equal((await on.row(id)).state, state);
    });
  }

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [143, 'interrupted'],
  ] as const) {
    test(`F03: a run that ends with ${exitCode} while the lease is late ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      on.overdue = true;
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      assert.equal((await on.row(id)).state, state);
    });
  }

  test('F03: a run whose lease was lost writes nothing', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    const fenced: string[] = [];
    on.signals.on('job:fenced', ({ jobId }) => fenced.push(jobId));
    const before = await on.row(id);
    const stopped = on.work.stopAll('lease-lost');
    end(on, null, 'SIGTERM');
    await stopped;
    assert.deepEqual([fenced, await on.row(id)], [[id], before]);
  });

  test('an end that the store cannot take for a while is written when it can', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    for (let n = 0; n < 20; n += 1) on.refusals.push(new Failure('unavailable', 'away'));
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal((await on.row(id)).state, 'succeeded');
  });

  test('F24: output whose commit succeeded while its answer was lost is kept once, and the run goes on', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    on.lostAnswers = 1;
    on.programs[0]?.print('one line\n');
    await until(() => on.lostAnswers === 0);
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal((await on.row(id)).state, 'succeeded');
    const chunks = await chunksAfter(on.store.db, id, 0, 10);
    const lines = chunks
      .flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 10 }))
      .filter(({ type }) => type === 'log');
    assert.deepEqual(
      lines.map((line) => 'text' in line && line.text),
      ['one line'],
    );
  });

  test('an end that cannot be stored is reported, and its slot becomes free', async (t) => {
    const on = await scene(t);
    await begin(on);
    const told: string[] = [];
    on.signals.on('loop:failed', ({ error }) => told.push(String(error)));
    for (let n = 0; n < 20; n += 1) on.refusals.push(new Error('odd'));
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.deepEqual(told, ['Error: odd']);
  });

  for (const [how, state] of [
    ['a cancel', 'cancelled'],
    ['a stop of the daemon', 'interrupted'],
  ] as const) {
    test(`${how} ends a run that still waits for its files, and it is ${state}`, async (t) => {
      const waits = Promise.withResolvers<void>();
      const fetch: TestStore['sources']['fetch'] = (_source, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Failure('unavailable', 'git: the fetch was stopped.')));
          waits.resolve();
        });
      const on = await scene(t, { sources: { treeOf: () => Promise.resolve(null), fetch } });
      await on.store.write(async (tx) => {
        await insertSource(tx, {
          name: 'infra',
          kind: 'git',
          location: 'https://git.test/x',
          ref: null,
          commit_id: 'a'.repeat(40),
          synced_at: 0,
          created_at: 0,
        });
        await insertWorkspace(tx, workspaceRow('net', { source: 'infra', path: '' }));
      });
      const spec = JSON.stringify({ plan: null, runSecrets: {}, detailedExitcode: false });
      const id = await on.job('workspace:net', { kind: 'plan', workspace: 'net', spec });
      await on.work.claimOnce();
      await waits.promise;
      if (how === 'a cancel') {
        await on.store.write((tx) => requestCancel(tx, id));
        await on.work.cancelOnce();
      }
      await on.work.stopAll('shutdown');
      assert.equal((await on.row(id)).state, state);
      assert.equal(on.programs.length, 0);
    });
  }
});
