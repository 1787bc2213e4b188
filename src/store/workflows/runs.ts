import { sql } from 'kysely';
import type { JobState } from '../../domain/jobs/job.ts';
import { isEnd, type RunEnd, type StepEnd, type StepState } from '../../domain/workflows/workflow.ts';
import { RUNNING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import { found, hasChanged, insertRow, rowBy } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { Db, WorkflowRunRow, WorkflowStepRow } from '../schema/schema.ts';

/** Literals of partial indexes, see `engine/literals.ts`. */
const STARTED = sql.lit('started' as const);
const UNFINISHED = sql.lit(1 as const);

/** What a start decides about a run; the rest of the row follows. */
export type NewRun = Pick<
  WorkflowRunRow,
  | 'id'
  | 'workflow'
  | 'definition'
  | 'trigger'
  | 'origin'
  | 'event_id'
  | 'rule'
  | 'matched_at'
  | 'schedule'
  | 'requested_by'
  | 'owners'
  | 'resumes'
  | 'because'
>;

/** Inserts a run and its steps, in the order of the file. */
export async function insertRun(
  tx: Tx,
  run: NewRun,
  steps: readonly Untagged<Omit<WorkflowStepRow, 'run_id' | 'position'>>[],
): Promise<WorkflowRunRow> {
  const order = { ...run, created_at: tx.now };
  const row: WorkflowRunRow = {
    ...order,
    state: 'running',
    finished_at: null,
    cancel_requested_at: null,
    unfinished: 0,
    outcome_event_id: null,
    ...tagOf(tx.ring, 'workflow_runs', order),
  };
  await insertRow(tx.db, 'workflow_runs', row);
  for (const [position, step] of steps.entries()) {
    const made = { run_id: run.id, position, ...step };
    tx.later(insertRow(tx.db, 'workflow_steps', { ...made, ...tagOf(tx.ring, 'workflow_steps', made) }));
  }
  return row;
}

export const findRun = rowBy('workflow_runs', 'id');

/** Throws not_found for an unknown id. */
export async function getRun(db: Db, id: string): Promise<WorkflowRunRow> {
  return found(await findRun(db, id), 'workflow run', id);
}

/**
 * Locks a run until the transaction ends, so that what is decided about its next steps is decided by one write at a
 * time. Before the locks of jobs.
 */
export function lockRun(tx: Tx, id: string): Promise<void> {
  return tx.dialect.lockKey(tx.db, `workflow-run:${id}`);
}

/** Newest first, at most `limit`; those of one workflow, or of all. */
export function listRuns(db: Db, workflow: string | null, limit: number): Promise<WorkflowRunRow[]> {
  let query = db.selectFrom('workflow_runs').selectAll().orderBy('id', 'desc').limit(limit);
  if (workflow !== null) query = query.where('workflow', '=', workflow);
  return query.execute();
}

/** A step, with its job while the end of that is not recorded as its own. */
export interface ListedStep extends WorkflowStepRow {
  readonly job_state: JobState | null;
  readonly job_cancel_requested_at: number | null;
}

const stepsOf = prepared<{ runId: string }, ListedStep>((db, value) =>
  db
    .selectFrom('workflow_steps')
    .leftJoin('jobs', (join) =>
      join.onRef('jobs.id', '=', 'workflow_steps.job_id').on('workflow_steps.state', '=', STARTED),
    )
    .selectAll('workflow_steps')
    .select(['jobs.state as job_state', 'jobs.cancel_requested_at as job_cancel_requested_at'])
    .where('run_id', '=', value('runId'))
    .orderBy('position'),
);

/** In the order of the file. */
export async function listSteps(db: Db, runId: string): Promise<readonly ListedStep[]> {
  return (await stepsOf(db, { runId })).rows;
}

/** The state that a step shows: that of its job while it has one, else its own. */
export function stateOfStep({ state, job_state: jobState }: Pick<ListedStep, 'state' | 'job_state'>): StepState {
  // Jobs are kept while their run is open: one that is gone was removed by hand.
  return state === 'started' ? (jobState ?? 'interrupted') : state;
}

const runOfJob = prepared<{ jobId: string }, WorkflowStepRow>((db, value) =>
  db
    .selectFrom('workflow_steps')
    .selectAll()
    .where('job_id', '=', value('jobId'))
    .where('job_id', 'is not', null)
    .where('taken_from', 'is', null),
);

/** The step that a job is of. */
export async function findStepOfJob(db: Db, jobId: string): Promise<WorkflowStepRow | undefined> {
  return (await runOfJob(db, { jobId })).rows[0];
}

type StepId = Pick<WorkflowStepRow, 'run_id' | 'name'>;

const stepIn = prepared<StepId & { readonly from: 'waiting' | 'started' }, WorkflowStepRow>((db, value) =>
  db
    .selectFrom('workflow_steps')
    .selectAll()
    .where('run_id', '=', value('run_id'))
    .where('name', '=', value('name'))
    .where('state', '=', value('from')),
);

/** Changes a step that is in this state. False for one that is in another. */
async function changeStep(
  tx: Tx,
  { run_id, name }: StepId,
  from: 'waiting' | 'started',
  changes: Partial<Pick<WorkflowStepRow, 'state' | 'job_id' | 'reason'>>,
): Promise<boolean> {
  const [row] = (await stepIn(tx.db, { run_id, name, from })).rows;
  if (row === undefined) return false;
  const update = tx.db.updateTable('workflow_steps').set(retagged(tx.ring, 'workflow_steps', row, changes));
  return hasChanged(update.where('run_id', '=', run_id).where('name', '=', name).where('state', '=', from));
}

/** Gives a waiting step its job. False where it does not wait any more: then its job must not be committed. */
export function startStep(tx: Tx, step: StepId, jobId: string): Promise<boolean> {
  return changeStep(tx, step, 'waiting', { state: 'started', job_id: jobId });
}

/** Records the end of a step. False where it was in another state than `from`. */
export function endStep(
  tx: Tx,
  step: StepId,
  from: 'waiting' | 'started',
  to: { readonly state: StepEnd; readonly reason: string | null },
): Promise<boolean> {
  return changeStep(tx, step, from, to);
}

/** Records that a step failed whose row, as it was read, or whose end does not count. */
export async function failStep(tx: Tx, row: WorkflowStepRow, reason: string): Promise<void> {
  const changes = retagged(tx.ring, 'workflow_steps', row, { state: 'failed' as const, reason });
  const update = tx.db.updateTable('workflow_steps').set(changes);
  await update.where('run_id', '=', row.run_id).where('name', '=', row.name).execute();
}

/** Ends a run. False where it has ended already. */
export function endRun(tx: Tx, id: string, state: RunEnd): Promise<boolean> {
  return hasChanged(
    tx.db
      .updateTable('workflow_runs')
      .set({ state, finished_at: tx.now, unfinished: 0 })
      .where('id', '=', id)
      .where('state', '=', 'running'),
  );
}

/** Removes a run that was inserted in this transaction. */
export async function deleteRun(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('workflow_steps').where('run_id', '=', id).execute();
  await tx.db.deleteFrom('workflow_runs').where('id', '=', id).execute();
}

/** Notes whether a pass left something of an open run to do. */
export async function noteUnfinished(tx: Tx, id: string, unfinished: boolean): Promise<void> {
  await tx.db
    .updateTable('workflow_runs')
    .set({ unfinished: unfinished ? 1 : 0 })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute();
}

/** Requests the end of an open run. False where it has ended, or its end was requested before. */
export function requestRunCancel(tx: Tx, id: string): Promise<boolean> {
  return hasChanged(
    tx.db
      .updateTable('workflow_runs')
      .set({ cancel_requested_at: tx.now })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .where('cancel_requested_at', 'is', null),
  );
}

const due = prepared<{ limit: number }, { id: string }>((db, value, dialect) =>
  db
    // Left alone, SQLite reads the steps of all runs.
    .selectFrom(
      sql<WorkflowStepRow>`workflow_steps`.as<'workflow_steps'>(
        sql`workflow_steps ${dialect.indexedBy('workflow_steps_started')}`,
      ),
    )
    .innerJoin('jobs', 'jobs.id', 'workflow_steps.job_id')
    .select('workflow_steps.run_id as id')
    .where('workflow_steps.state', '=', STARTED)
    .where('jobs.finished_at', 'is not', null)
    .union(
      db.selectFrom('workflow_runs').select('id').where('state', '=', RUNNING).where('unfinished', '=', UNFINISHED),
    )
    .orderBy('id')
    .limit(value('limit')),
);

/** Open runs of which a job has ended and is not recorded yet, or of which a pass left something to do. */
export async function listDueRuns(db: Db, limit: number): Promise<string[]> {
  return (await due(db, { limit })).rows.map(({ id }) => id);
}

/**
 * Ends every open run as `interrupted`, for a restored store: a started step ends as its job, or `interrupted`, and a
 * waiting one as `cancelled`. Answers how many runs. `reason` is a part of a sentence.
 */
export async function interruptRuns(tx: Tx, reason: string): Promise<number> {
  const open = tx.db.selectFrom('workflow_runs').select('id').where('state', '=', RUNNING);
  for (const { id } of await open.execute())
    for (const step of await listSteps(tx.db, id)) {
      if (step.state === 'waiting') await endStep(tx, step, 'waiting', { state: 'cancelled', reason });
      const end = stateOfStep(step);
      if (step.state === 'started')
        await endStep(tx, step, 'started', { state: isEnd(end) ? end : 'interrupted', reason });
    }
  const ended = await tx.db
    .updateTable('workflow_runs')
    .set({ state: 'interrupted', finished_at: tx.now, unfinished: 0 })
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  return Number(ended.numUpdatedRows);
}
