/** A Work whose programs the test ends. */
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { createSignals, type Signals } from '../../../src/daemon/core/signals.ts';
import { Work } from '../../../src/daemon/jobs/work.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import type { RunSetup } from '../../../src/runners/run.ts';
import type { Exit } from '../../../src/runners/launch/children.ts';
import type { Launched } from '../../../src/runners/launch/tool.ts';
import type { LaunchRequest } from '../../../src/runners/launch/launch.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { reactionOf } from '../fixtures/reaction.ts';
import { openTestStore, type TestStore } from './job-store.ts';
import { NO_BOUNDS } from '../bounds/no-bounds.ts';

/** No process has this pid: the kernel gives numbers below 4,194,304. */
const NO_PID = 5_000_000;

/** Pauses are a hundredth of what they are. */
const hastyClock: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(ms / 100, fire) };

/** Pauses do not end while a test runs. */
export const waitingClock: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(ms * 1000, fire) };

export interface Scene extends TestStore {
  readonly work: Work;
  readonly signals: Signals;
  readonly reaction: ReactionDeps;
  readonly self: string;
  /** The programs that were launched, each with the end that the test gives it. */
  readonly programs: { request: LaunchRequest; exit: (exit: Exit) => void; print: (text: string) => void }[];
  /** How many runs there were when a slot became free. */
  readonly freed: number[];
  overdue: boolean;
  /** Thrown by the next writes of the run, one after the other. */
  readonly refusals: unknown[];
  /** The number of the next writes of the run that are committed while their answer is lost. */
  lostAnswers: number;
  /** Writes since the last program was launched. */
  writes: number;
  /** Ends that were recorded without their event. */
  withoutEvent: number;
  row(id: string): Promise<JobRow>;
}

export async function scene(
  t: TestContext,
  { maxJobs = 1, clock = hastyClock, ...more }: { maxJobs?: number; clock?: Clock } & Partial<TestStore> = {},
): Promise<Scene> {
  const setup = { ...(await openTestStore(more.store)), ...more };
  t.after(() => setup.close());
  const self = await setup.daemon();
  const refusals: unknown[] = [];
  const programs: Scene['programs'] = [];
  const freed: number[] = [];
  const signals = createSignals();
  const store: Store = {
    ...setup.store,
    write: async (body) => {
      on.writes += 1;
      if (programs.length > 0 && refusals.length > 0) throw refusals.shift();
      const answer = await setup.store.write(body);
      if (programs.length === 0 || on.lostAnswers === 0) return answer;
      on.lostAnswers -= 1;
      throw new Failure('unavailable', 'lost');
    },
  };
  const reaction = reactionOf(setup.store);
  const on: Scene = {
    ...setup, self, reaction, signals, programs, freed, refusals, lostAnswers: 0, overdue: false, writes: 0,
    withoutEvent: 0,
    row: (id) => getJob(setup.store.db, id),
    work: new Work({
      ...setup,
      store,
      reaction,
      nextOf: () => Promise.resolve(null),
      setup: { ...runSetup(setup.runsDir, programs), clock },
      maxJobs,
      announceJob: () => undefined,
      signals,
      claimer: () => ({ id: self, node: 'here' }),
      isOverdue: () => on.overdue,
      onWithoutEvent: () => void (on.withoutEvent += 1),
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
    const pipe = { fd: -1, inode: 0 };
    const waiting = { isWaiting: true, giveUp: () => undefined };
    await request.beforeStart?.({ ...leader, ...waiting, output: { stdout: pipe, stderr: pipe } });
    const exit = (end: Exit): void => {
      stdout.end();
      stderr.end();
      resolve(end);
    };
    programs.push({ request, exit, print: (text) => void stdout.write(text) });
    return { ...leader, stdout, stderr, report: null, started: Promise.resolve(), exited, adopted: () => [] };
  };
  return {
    clock: hastyClock,
    launcher: { launch, prepare: () => null, supported: () => Promise.reject(new Error('not asked')) },
    guard: { ready: nothing, watch: () => undefined, unwatch: () => undefined, renew: () => undefined, stop: nothing },
    bounds: NO_BOUNDS,
    sharedMemory: null,
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
export async function begin(on: Scene): Promise<string> {
  const id = await on.job();
  await on.work.claimOnce();
  await until(() => on.programs.length === 1);
  return id;
}

export async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setImmediate(resolve));
}

export function end(on: Scene, exitCode: number | null, signal: NodeJS.Signals | null = null): void {
  on.programs[0]?.exit({ exitCode, signal });
}
