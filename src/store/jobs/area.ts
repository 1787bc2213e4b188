import { sql } from 'kysely';
import { OPEN_STATES, type JobEvent, type JobState } from '../../domain/jobs/job.ts';
import { encodeChunk } from '../../lib/chunks/chunk.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { namedIn, RESTORED, type Restoring, type Settled, type StoreArea, UNREPORTED } from '../area.ts';
import type { Tx } from '../engine/tx.ts';
import { insertChunk, lastSeq } from './chunks.ts';

/** How each state of a job that has not ended ends when its store is restored. */
const ENDS: Readonly<Partial<Record<JobState, 'interrupted' | 'cancelled'>>> = {
  queued: 'interrupted',
  running: 'interrupted',
  awaiting_approval: 'cancelled',
};

export const JOBS: StoreArea = {
  async restored(tx, restoring) {
    const ended = await endJobs(tx, restoring);
    await tx.db.deleteFrom('job_partials').execute();
    await tx.db.deleteFrom('job_follows').execute();
    // Rules would act on what is long over.
    await tx.db
      .updateTable('jobs')
      .set({ outcome_event_id: UNREPORTED, drift_status: null })
      .where('outcome_event_id', 'is', null)
      .execute();
    return ended;
  },
  keepsJobs: [
    // The old job of a redrive or rerun, and one that is still to be repeated.
    { column: 'jobs.redrive_of', holds: sql`exists (select 1 from jobs as again where again.redrive_of = jobs.id)` },
    { column: 'jobs.rerun_of', holds: sql`exists (select 1 from jobs as again where again.rerun_of = jobs.id)` },
    {
      column: 'redriven_jobs.job_id',
      holds: sql`jobs.state = 'interrupted'
        and not exists (select 1 from redriven_jobs as done where done.job_id = jobs.id)`,
    },
  ],
  keepsEvents: [namedIn('jobs.outcome_event_id', 'events')],
  belongsToJob: [
    { table: 'job_chunks', partsBy: 'first_seq' },
    { table: 'job_partials' },
    { table: 'job_follows' },
    { table: 'unread_files' },
    { table: 'redriven_jobs' },
  ],
  /** The older job stays a while: it must not be queued a second time. */
  async beforeJobsGo({ db }, ids) {
    await sql`insert into redriven_jobs (job_id) select redrive_of from jobs where id in (${ids})
      and redrive_of is not null on conflict do nothing`.execute(db);
  },
};

async function endJobs(tx: Tx, { interrupted }: Restoring): Promise<Pick<Settled, 'interrupted' | 'cancelled'>> {
  const ended = { interrupted: 0, cancelled: 0 };
  const open = await tx.db.selectFrom('jobs').selectAll().where('state', 'in', OPEN_STATES).orderBy('id').execute();
  for (const job of open) {
    const state = ENDS[job.state];
    if (state === undefined) throw new Error(`a restored job that is ${job.state} has no end`);
    await tx.db
      .updateTable('jobs')
      .set({ state, finished_at: tx.now, expires_at: null, blocked: 0, reason: RESTORED })
      .where('id', '=', job.id)
      .execute();
    await appendEnd(tx, job.id, state);
    if (job.state === 'running') await interrupted(tx, job);
    ended[state] += 1;
  }
  return ended;
}

/** The reason as a line of the output, and the event of the end. */
async function appendEnd(tx: Tx, jobId: string, state: 'interrupted' | 'cancelled'): Promise<void> {
  const seq = (await lastSeq(tx.db, jobId)) + 1;
  const at = rfc3339(tx.now);
  const events: JobEvent[] = [
    { seq, at, type: 'log', stream: 'system', text: `The job was ${state}: ${RESTORED}.` },
    { seq: seq + 1, at, type: 'state', state, exit_code: null },
  ];
  insertChunk(tx, jobId, { first_seq: seq, last_seq: seq + 1, raw_bytes: 0, data: encodeChunk(events) });
}
