import { sql } from 'kysely';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, WorkflowRunRow } from '../schema/schema.ts';

/** Written as in the partial index `workflow_runs_untold`, which holds exactly these rows. */
const WITHOUT_OUTCOME = sql<boolean>`outcome_event_id is null and state <> 'running'`;

const withoutOutcome = prepared<{ limit: number }, WorkflowRunRow>((db, value, dialect) =>
  db
    .selectFrom(
      sql<WorkflowRunRow>`workflow_runs`.as<'workflow_runs'>(
        sql`workflow_runs ${dialect.indexedBy('workflow_runs_untold')}`,
      ),
    )
    .selectAll()
    .where(WITHOUT_OUTCOME)
    .orderBy('id')
    .limit(value('limit')),
);

/** Ended runs whose end has no event yet, the oldest first. */
export async function listRunsWithoutOutcome(db: Db, limit: number): Promise<readonly WorkflowRunRow[]> {
  return (await withoutOutcome(db, { limit })).rows;
}

const setEvent = prepared<{ runId: string; eventId: string }, unknown>((db, value) =>
  db
    .updateTable('workflow_runs')
    .set({ outcome_event_id: value('eventId') })
    .where('id', '=', value('runId'))
    .where('outcome_event_id', 'is', null),
);

/** Records the event of a run's end, in the transaction that writes it. False where the end already has an event. */
export async function setRunOutcome(tx: Tx, runId: string, eventId: string): Promise<boolean> {
  return (await setEvent(tx.db, { runId, eventId })).changed === 1;
}

const refusedStep = prepared<{ runId: string }, { name: string }>((db, value) =>
  db
    .selectFrom('workflow_steps')
    .select('name')
    .where('run_id', '=', value('runId'))
    .where('state', '=', 'failed')
    .where('job_id', 'is', null)
    .orderBy('position')
    .limit(1),
);

/** The first step that failed without a job; undefined without one. */
export async function findRefusedStep(tx: Tx, runId: string): Promise<string | undefined> {
  return (await refusedStep(tx.db, { runId })).rows[0]?.name;
}
