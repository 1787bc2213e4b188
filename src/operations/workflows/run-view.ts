import { runStateOf } from '../../domain/workflows/progress.ts';
import type { RunState } from '../../domain/workflows/workflow.ts';
import type { Db, WorkflowRunRow } from '../../store/schema/schema.ts';
import { type ListedStep, listSteps, stateOfStep } from '../../store/workflows/runs.ts';
import type { ViewData } from '../../views/views.ts';

/** The state of a run: while it is open it follows from its steps, because a decision changes a job only. */
export function stateOfRun({ state }: Pick<WorkflowRunRow, 'state'>, steps: readonly ListedStep[]): RunState {
  if (state !== 'running') return state;
  // The last job of a run may have ended, and the run ends with the next write.
  const open = runStateOf(steps.map(stateOfStep));
  return open === 'awaiting_approval' ? open : 'running';
}

/** The run with its steps in the order of the file. */
export async function runView(db: Db, run: WorkflowRunRow): Promise<ViewData<'workflow.status'>> {
  const steps = await listSteps(db, run.id);
  return {
    run_id: run.id,
    workflow: run.workflow,
    state: stateOfRun(run, steps),
    steps: steps.map((step) => ({
      name: step.name,
      state: stateOfStep(step),
      job_id: step.job_id,
      ...(step.reason === null ? {} : { reason: step.reason }),
    })),
  };
}
