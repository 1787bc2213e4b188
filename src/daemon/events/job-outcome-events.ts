import type { MakeLoop } from '../core/loop.ts';
import { Failure } from '../../domain/failure.ts';
import { evaluateOutcome, giveUpOutcome, recordOutcome } from '../../reaction/outcome.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import { CLOCKS_APART_MS } from '../../lib/clock.ts';
import { listWithoutOutcome } from '../../store/jobs/outcomes.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Signals } from '../core/signals.ts';

interface OutcomeDeps {
  readonly reaction: ReactionDeps;
  readonly self: () => string;
  readonly signals: Pick<Signals, 'emit'>;
}

/**
 * The interval of the search for job ends without a local signal, in milliseconds: of jobs that never ran, or of other
 * daemons.
 */
const OUTCOMES_EVERY_MS = 1_000;
/** Another daemon has this time to record the ends of its jobs: two daemons that record the same end conflict. */
const OTHERS_AFTER_MS = 2_000;
/** The size of a batch: its writes share a commit. */
const BATCH = 64;

/**
 * Creates the events of ended jobs. The job's row shows whether its end has an event, so that the code that ends a job
 * (a run, a cancel, a decision, a deadline, a rescue) does not depend on events, and no end is lost with a daemon.
 */
export async function recordOutcomes(deps: OutcomeDeps, signal?: AbortSignal): Promise<void> {
  const { reaction, self } = deps;
  for (;;) {
    const now = reaction.clock.now();
    const span = { before: now - OTHERS_AFTER_MS, after: now + CLOCKS_APART_MS };
    const jobs = await listWithoutOutcome(reaction.store.db, { daemonId: self(), ...span, limit: BATCH });
    if (jobs.length === 0 || signal?.aborted === true) return;
    const recording: Promise<Failure | null>[] = [];
    for (const job of jobs.toSorted(byEnd)) {
      const evaluating = evaluateOutcome(reaction, job);
      recording.push(recordOne(deps, job, evaluating));
      // In order, so that the newest event of a runbook is of the newest end; the writes share a commit.
      await evaluating.catch(() => undefined);
    }
    const refused = (await Promise.all(recording)).find((failure) => failure !== null);
    // The store refuses writes now: the next pass finds them again.
    if (refused !== undefined) throw refused;
  }
}

function byEnd(a: JobRow, b: JobRow): number {
  return (a.finished_at ?? 0) - (b.finished_at ?? 0) || (a.id < b.id ? -1 : 1);
}

async function recordOne(
  { reaction, signals }: OutcomeDeps,
  job: JobRow,
  evaluating: ReturnType<typeof evaluateOutcome>,
): Promise<Failure | null> {
  try {
    await recordOutcome(reaction, job, await evaluating);
  } catch (error) {
    if (error instanceof Failure) return error;
    signals.emit('loop:failed', { name: `outcome of ${job.id}`, error });
    await giveUpOutcome(reaction, job);
  }
  return null;
}

export const outcomesLoop: MakeLoop<OutcomeDeps> = (deps) => ({
  name: 'outcomes',
  everyMs: OUTCOMES_EVERY_MS,
  wakeOn: ['job-ended'],
  restsWithoutCommits: true,
  once: (signal) => recordOutcomes(deps, signal),
});
