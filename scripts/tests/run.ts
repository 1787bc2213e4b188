/** Runs the lanes of a suite side by side, until all have ended or the run takes too long. */
import type { Lane, Suite } from './suites.ts';
import { type LaneOptions, type Running, runLane } from './lane.ts';
import { MachineTime } from '../../test/support/measure/slowness.ts';
import type { Report } from './report.ts';

/**
 * Lanes at a time, on two cores: with two of them half of the processor was left, because tests of daemons wait for
 * starts, leases and disks.
 */
const LANES_AT_A_TIME = 3;
/** How many times its budget a run may take. What ends it then is named, and nothing else counts as failed. */
const DEADLINE_BUDGETS = 4;
/** How often it is looked for the deadline. */
const LOOK_MS = 250;
/** How often a run says how far it is. */
const PROGRESS_MS = 30_000;

export interface RunOptions extends Pick<LaneOptions, 'node' | 'nodeArgs' | 'env'> {
  readonly limits: Pick<Suite, 'budgetMs' | 'testLimitMs'>;
  readonly signal: AbortSignal;
}

/** Runs them, and tells `report` what happens. */
export async function runLanes(lanes: readonly Lane[], options: RunOptions, report: Report): Promise<void> {
  const { budgetMs, testLimitMs } = options.limits;
  const time = new MachineTime();
  const deadline = new AbortController();
  const signal = AbortSignal.any([deadline.signal, options.signal]);
  const running = new Set<Running>();
  const look = setInterval(() => {
    if (time.passed() > budgetMs * DEADLINE_BUDGETS) deadline.abort();
  }, LOOK_MS);
  deadline.signal.addEventListener('abort', () => {
    const late = Array.from(running, (each) => each.current());
    report.stopped(`The run took more than ${(budgetMs * DEADLINE_BUDGETS) / 1_000} s of a quick machine`, late);
  });
  const interrupted = (): void => report.stopped('Interrupted', []);
  if (options.signal.aborted) interrupted();
  options.signal.addEventListener('abort', interrupted);
  const progress = setInterval(() => report.progress(Array.from(running, (each) => each.current())), PROGRESS_MS);
  const waiting = [...lanes];
  const work = async (): Promise<void> => {
    for (let lane = waiting.shift(); lane !== undefined && !signal.aborted; lane = waiting.shift()) {
      await runOne(lane, { ...options, testLimitMs, signal }, report, running);
    }
  };
  await Promise.all(Array.from({ length: LANES_AT_A_TIME }, work));
  clearInterval(progress);
  clearInterval(look);
}

async function runOne(
  lane: Lane,
  options: Omit<LaneOptions, 'onEnd' | 'onBroken'>,
  report: Report,
  running: Set<Running>,
): Promise<void> {
  const beganMs = performance.now();
  let now: Running | null = null;
  const started = (next: Running): void => {
    if (now !== null) running.delete(now);
    now = next;
    running.add(next);
  };
  const hooks = { onEnd: report.ended.bind(report, lane), onBroken: report.broken.bind(report) };
  await runLane(lane, { ...options, ...hooks }, started);
  if (now !== null) running.delete(now);
  if (!options.signal.aborted) report.laneEnded(lane, performance.now() - beganMs);
}
