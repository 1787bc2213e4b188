import { fromJson } from '../../lib/json.ts';
import { queueAction } from '../../jobs/actions.ts';
import { advanceRun, type WorkflowDeps } from '../../jobs/workflows/advance.ts';
import { conditionsOf } from '../../jobs/workflows/conditions.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { findRun, findStepOfJob, listDueRuns, lockRun } from '../../store/workflows/runs.ts';
import type { MakeLoop } from '../core/loop.ts';
import type { Signals } from '../core/signals.ts';
import { recordRunOutcomes } from './run-outcomes.ts';
import type { NextOfJob } from '../jobs/run-end.ts';

interface NextStepsDeps {
  readonly reaction: ReactionDeps;
  readonly announceJob: (id: string) => void;
  readonly signals: Pick<Signals, 'emit'>;
}

/** The fallback where no wake-up arrives, in milliseconds: for ends that other daemons record. */
const WORKFLOWS_EVERY_MS = 1_000;
/** Runs of one read. */
const BATCH = 50;

function depsOf({ reaction, announceJob }: NextStepsDeps): WorkflowDeps {
  return { ...reaction, wake: () => reaction.wake(), queueAction, announceJob };
}

/**
 * What the end of a job means for the run that it is a step of: the next steps are queued in the transaction of the
 * end, so that no daemon can die between the two. Null for a job that is no step.
 */
export async function prepareNextSteps(deps: NextStepsDeps, job: JobRow): Promise<NextOfJob | null> {
  if (job.trigger !== 'workflow') return null;
  const { db } = deps.reaction.store;
  const step = await findStepOfJob(db, job.id);
  if (step === undefined) return null;
  await compileConditions(deps, step.run_id);
  return { hold: (tx: Tx) => lockRun(tx, step.run_id), write: (tx: Tx) => advanceRun(tx, depsOf(deps), step.run_id) };
}

/** Before the transaction, which must not wait for it. */
async function compileConditions({ reaction }: NextStepsDeps, runId: string): Promise<void> {
  const run = await findRun(reaction.store.db, runId);
  if (run !== undefined) await conditionsOf(fromJson(run.definition).steps);
}

/**
 * Continues the runs whose jobs have ended in another way than by a run of this daemon: by a cancel, a decision, a
 * deadline or a rescue, or by a daemon that could not queue the next steps. One that cannot be continued does not stop
 * the others. Returns how many could not be continued.
 */
async function continueRuns(deps: NextStepsDeps, signal: AbortSignal): Promise<number> {
  const { store } = deps.reaction;
  const failed = new Set<string>();
  while (!signal.aborted) {
    const due = (await listDueRuns(store.db, BATCH + failed.size)).filter((id) => !failed.has(id));
    if (due.length === 0) break;
    for (const id of due) {
      try {
        await compileConditions(deps, id);
        await store.write((tx) => advanceRun(tx, depsOf(deps), id));
      } catch (error) {
        failed.add(id);
        deps.signals.emit('loop:failed', { name: `workflow run ${id}`, error });
      }
    }
  }
  return failed.size;
}

export const workflowsLoop: MakeLoop<NextStepsDeps> = (deps) => ({
  name: 'workflows',
  everyMs: WORKFLOWS_EVERY_MS,
  wakeOn: ['after-request', 'job-ended'],
  restsWithoutCommits: true,
  once: async (signal) => {
    const failed = await continueRuns(deps, signal);
    await recordRunOutcomes(deps, signal);
    // Without a time the loop would rest although there is work.
    return failed > 0 ? { dueMs: WORKFLOWS_EVERY_MS } : {};
  },
});
