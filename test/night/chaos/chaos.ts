/**
 * The chaos test: daemons are killed at random moments under load, started again at once, and at the end the history
 * is judged. Used in a short form by `npm test` and in a long one by `npm run chaos`.
 */
import { join } from 'node:path';
import { TERMINAL, until } from '../../support/api-client.ts';
import type { Api } from '../../support/api-client.ts';
import { NotReady, type RunningDaemon, type StartingDaemon } from '../../support/daemon.ts';
import { openFixture, type Ending, type Fixture } from '../../support/fixtures/installation.ts';
import { check, type Violation } from './checker.ts';
import { readHistory, type History } from './history.ts';
import { startLoad } from './load.ts';
import { seeded, type Seeded } from '../../support/seeded.ts';

export interface ChaosOptions {
  readonly postgres: boolean;
  readonly daemons: number;
  readonly kills: number;
  readonly seed: number;
}

export interface ChaosFigures {
  readonly kills: number;
  readonly jobs: number;
  readonly acks: number;
  readonly interrupted: number;
  readonly startMs: readonly number[];
  /** From a kill to the moment when a job that it orphaned was marked interrupted, in milliseconds. */
  readonly takeoverMs: readonly number[];
}

export interface ChaosResult {
  readonly violations: readonly Violation[];
  readonly figures: ChaosFigures;
}

/** The kill comes this long after the daemon is ready, at most; one in four comes while it starts. */
const KILL_WITHIN_MS = 800;
const KILL_IN_START_SHARE = 0.25;
const KEYS = 6;
const MAX_JOBS = 6;
const LEASE = '2s';
/** A deaf job holds its key for the grace of 10 s and some seconds more. */
const SETTLE_LIMIT_MS = 90_000;
const LOADED_LIMIT_MS = 60_000;
/** Before each kill, at most. */
const LOAD_WAITS = 60;
const LOAD_WAIT_MS = 50;

/** One place for a daemon: killed and filled again. */
class Seat {
  running: RunningDaemon | null = null;
  starting: StartingDaemon | null = null;
  readonly #spawn: () => StartingDaemon;

  constructor(spawn: () => StartingDaemon) {
    this.#spawn = spawn;
  }

  begin(): StartingDaemon {
    this.running = null;
    this.starting = this.#spawn();
    return this.starting;
  }

  async ready(): Promise<RunningDaemon> {
    this.running = await (this.starting ?? this.begin()).ready;
    return this.running;
  }
}

interface Kill {
  readonly pid: number;
  readonly atMs: number;
}

export async function runChaos(ending: Ending, options: ChaosOptions): Promise<ChaosResult> {
  const fixture = await openFixture(ending, { postgres: options.postgres });
  const chance = seeded(options.seed);
  const seats = Array.from({ length: options.daemons }, (_, index) => {
    const dataDir = join(fixture.dir, options.postgres ? `data-${index}` : 'data');
    return new Seat(() => fixture.spawn({ dataDir, args: ['--max-jobs', String(MAX_JOBS), '--lease', LEASE] }));
  });
  await Promise.all(seats.map((seat) => seat.ready()));
  const apis = (): Api[] => seats.flatMap((seat) => (seat.running === null ? [] : [seat.running.api(fixture.token)]));
  const load = startLoad({ fixture, chance, apis, keys: KEYS });
  const kills: Kill[] = [];
  const startMs: number[] = [];
  for (let n = 0; n < options.kills; n += 1) {
    const before = load.acks();
    kills.push(await killOne(chance.pick(seats), { chance, startMs, isLoaded: () => load.acks() > before }));
  }
  const last = await Promise.all(seats.map((seat) => seat.ready()));
  // Clients of a slow machine were mostly without a daemon.
  await until('more jobs are acknowledged than kills were', () => load.acks() > options.kills, LOADED_LIMIT_MS);
  const clients = await load.stop();
  await settled(fixture);
  const codes = await Promise.all(last.map((daemon) => daemon.stop()));
  if (codes.some((code) => code !== 0)) throw new Error(`the daemons stopped with ${codes.join(', ')}`);
  const history = await readHistory(fixture, clients);
  return { violations: check(history), figures: await figuresOf(fixture, history, kills, startMs) };
}

interface KillOptions {
  readonly chance: Seeded;
  readonly startMs: number[];
  /** Whether the clients got an answer since the kill before. */
  readonly isLoaded: () => boolean;
}

/** Fills the seat if it is empty, waits for the moment, kills, and begins the next. */
async function killOne(seat: Seat, { chance, startMs, isLoaded }: KillOptions): Promise<Kill> {
  const inStart = seat.running === null && chance.next() < KILL_IN_START_SHARE;
  if (!inStart && seat.running === null) {
    const begun = performance.now();
    await seat.ready();
    startMs.push(performance.now() - begun);
  }
  if (!inStart) await waitForLoad(isLoaded);
  await new Promise((resolve) => setTimeout(resolve, chance.whole(0, KILL_WITHIN_MS)));
  const { running, starting } = seat;
  const kill = { pid: starting?.pid ?? 0, atMs: Date.now() };
  await (running ?? starting)?.kill();
  if (running === null) await starting?.ready.catch(rethrowOthers);
  seat.begin();
  return kill;
}

/** A slow machine would be killed without any load. As many jobs as may be open give no answer for some seconds. */
async function waitForLoad(isLoaded: () => boolean): Promise<void> {
  for (let waits = 0; !isLoaded() && waits < LOAD_WAITS; waits += 1)
    await new Promise((resolve) => setTimeout(resolve, LOAD_WAIT_MS));
}

/** A daemon that was killed while it started has not become ready; anything else is a fault. */
function rethrowOthers(error: unknown): void {
  if (!(error instanceof NotReady) || error.refusal.exitCode !== null) throw error;
}

async function settled(fixture: Fixture): Promise<void> {
  await until(
    'every job has ended',
    async () => {
      const open = await fixture.store.db
        .selectFrom('jobs')
        .select('id')
        .where('state', 'not in', TERMINAL as never[])
        .limit(1)
        .execute();
      return open.length === 0;
    },
    SETTLE_LIMIT_MS,
  );
}

async function figuresOf(
  fixture: Fixture,
  history: History,
  kills: readonly Kill[],
  startMs: readonly number[],
): Promise<ChaosFigures> {
  const rows = await fixture.store.db
    .selectFrom('jobs')
    .innerJoin('daemons', 'daemons.id', 'jobs.daemon_id')
    .select(['jobs.finished_at', 'daemons.pid'])
    .where('jobs.state', '=', 'interrupted')
    .execute();
  const takeoverMs = rows.flatMap((row) => {
    const ended = row.finished_at ?? 0;
    // The kernel uses a pid again after some hundred kills: the one before the end is meant.
    const kill = kills.findLast(({ pid, atMs }) => pid === row.pid && atMs <= ended);
    return kill === undefined ? [] : [ended - kill.atMs];
  });
  const interrupted = history.jobs.filter((job) => job.state === 'interrupted').length;
  return {
    kills: kills.length,
    jobs: history.jobs.length,
    acks: history.enqueued.length,
    interrupted,
    startMs,
    takeoverMs,
  };
}

/** One line for people; the share of a list that is at most so large is a percentile. */
export function describeFigures({ kills, jobs, acks, interrupted, startMs, takeoverMs }: ChaosFigures): string {
  return [
    `${kills} kills, ${acks} acknowledged jobs (${jobs} in the store), ${interrupted} interrupted`,
    `takeover p50 ${percentile(takeoverMs, 0.5)} ms, p95 ${percentile(takeoverMs, 0.95)} ms, longest ` +
      `${percentile(takeoverMs, 1)} ms`,
    `ready again after p50 ${percentile(startMs, 0.5)} ms, longest ${percentile(startMs, 1)} ms`,
  ].join('; ');
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0);
}
