import { sql } from 'kysely';
import { namedIn, RESTORED, type StoreArea, UNREPORTED } from '../area.ts';
import { interruptRuns } from './runs.ts';

export const WORKFLOWS: StoreArea = {
  /** The ends of the steps are those of their jobs, which have ended before. */
  async restored(tx) {
    const interrupted = await interruptRuns(tx, RESTORED);
    await tx.db
      .updateTable('workflow_runs')
      .set({ outcome_event_id: UNREPORTED })
      .where('outcome_event_id', 'is', null)
      .execute();
    return { workflow_runs: interrupted };
  },
  keepsJobs: [
    namedIn(
      'workflow_steps.job_id',
      'jobs',
      sql`workflow_steps.job_id is not null and workflow_steps.taken_from is null`,
    ),
  ],
  keepsEvents: [namedIn('workflow_runs.event_id', 'events'), namedIn('workflow_runs.outcome_event_id', 'events')],
};
