import { type Subject, subjectOf } from '../../domain/events/causes.ts';
import { subjectsOfStep } from '../../domain/rules/step-actions.ts';
import { fromJson } from '../../lib/json.ts';
import type { WorkflowRunRow, WorkflowStepRow } from '../../store/schema/schema.ts';

/**
 * What the end of a run depends on: its cancel, what became of the jobs of its steps, and what the steps name whose
 * jobs were refused. A step that was not reached counts for nothing: the run did not look at what it would need.
 */
export function runDependencies(
  run: Pick<WorkflowRunRow, 'id' | 'definition'>,
  steps: readonly Pick<WorkflowStepRow, 'name' | 'state' | 'job_id'>[],
): readonly Subject[] {
  const jobs = steps.flatMap(({ job_id: job }) => (job === null ? [] : [subjectOf('job', job)]));
  const refused = steps.filter(({ state, job_id: job }) => job === null && state === 'failed');
  return [subjectOf('run', run.id), ...jobs, ...(refused.length === 0 ? [] : namedBy(run, refused))];
}

function namedBy(
  run: Pick<WorkflowRunRow, 'definition'>,
  refused: readonly Pick<WorkflowStepRow, 'name'>[],
): readonly Subject[] {
  const names = new Set(refused.map(({ name }) => name));
  try {
    const { steps } = fromJson(run.definition);
    return steps.flatMap(({ name, action }) => (names.has(name) ? subjectsOfStep(action) : []));
  } catch {
    // This service did not write it: its tag does not fit, and its end fires nothing.
    return [];
  }
}
