/** What a pending request says, of rows that were checked: a person decides by what is shown, and a yes releases it. */
import { Failure } from '../../domain/failure.ts';
import { writesOutside } from '../../domain/jobs/order.ts';
import { QUEUE_RULES } from '../../jobs/kinds.ts';
import type { ListedApproval } from '../../store/approvals/approvals.ts';
import { checkTag, type TagReader } from '../../store/engine/tags/tags.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { findStepOfJob, getRun } from '../../store/workflows/runs.ts';
import type { ApprovalRow, JobRow } from '../../store/schema/schema.ts';

/** An approval for people. */
export interface ShownApproval extends ListedApproval {
  /** Why it must not be approved, for people: a row of it was changed in the database. Null for all others. */
  readonly fault: string | null;
}

/** The columns of a list that do not come from the approval itself, beside those of its event. */
type Joined = Omit<ListedApproval, keyof ApprovalRow | 'event_name' | 'event_labels'>;

/** Throws forbidden where somebody has changed the approval, its job, its plan or its workflow step. */
export async function checkRequest(on: TagReader, approval: ApprovalRow): Promise<Joined> {
  await checkTag(on, 'approvals', approval);
  const job = await checkTag(on, 'jobs', await getJob(on.db, approval.job_id));
  // No tag covers it, because the order says it too.
  if (job.writable !== writesOutside(job.privileged === 1, job.spec))
    throw new Failure('forbidden', `Integrity: job ${job.id} was changed after it was written. Nothing was run.`);
  const plan = await QUEUE_RULES[approval.kind].checkSubject(on, approval);
  return {
    job_privileged: job.privileged,
    job_writable: job.writable,
    job_pinned: job.pinned,
    job_spec: approval.summary === null ? job.spec : null,
    plan_summary: plan?.summary ?? null,
    destroys: plan?.destroys ?? null,
    changes: plan?.changes ?? null,
    creates: plan?.creates ?? null,
    ...(await checkedStepOf(on, job)),
  };
}

async function checkedStepOf(on: TagReader, job: JobRow): Promise<Pick<Joined, 'step_name' | 'step_workflow'>> {
  // A yes to a step may be one to the whole run, so a step that is away is not another kind of job.
  if (job.trigger !== 'workflow') return { step_name: null, step_workflow: null };
  const step = await findStepOfJob(on.db, job.id);
  if (step === undefined)
    throw new Failure('forbidden', `Integrity: the workflow step of job ${job.id} was removed. Nothing was run.`);
  const run = await checkTag(on, 'workflow_runs', await getRun(on.db, step.run_id));
  // A daemon of an earlier build moves a step without its tag.
  if (await on.adoption.isOver()) await checkTag(on, 'workflow_steps', step);
  return { step_name: step.name, step_workflow: run.workflow };
}

/** As a person is shown it. One that is settled is shown as it is: no one decides by it. */
export async function shownApproval(on: TagReader, row: ListedApproval): Promise<ShownApproval> {
  if (row.state !== 'pending') return { ...row, fault: null };
  try {
    return { ...row, ...(await checkRequest(on, row)), fault: null };
  } catch (error) {
    // Not found: the job was removed.
    if (error instanceof Failure && ['forbidden', 'not_found'].includes(error.code))
      return { ...row, because: null, fault: error.message };
    throw error;
  }
}
