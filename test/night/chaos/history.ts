/** What happened, as three witnesses tell it: the clients, the tools, and the store at the end. */
import type { JobState } from '../../../src/domain/jobs/job.ts';
import type { EventJson } from '../../support/api-client.ts';
import type { Fixture } from '../../support/fixtures/installation.ts';
import type { WitnessLine } from '../../support/witness/witness.ts';

/** A job that was acknowledged as queued. */
export interface EnqueueAck {
  readonly jobId: string;
  /** The Idempotency-Key of a request over HTTP; null for a job that was queued past the API. */
  readonly requestKey: string | null;
}

/** A state that an answer showed, in the order of the answers. */
export interface Observation {
  readonly jobId: string;
  readonly state: JobState;
}

/** What the clients know. */
export interface ClientRecord {
  readonly enqueued: readonly EnqueueAck[];
  /** Jobs whose cancel was answered 200. */
  readonly cancelled: readonly string[];
  readonly observed: readonly Observation[];
}

/** A job as the store has it at the end. */
export interface FinalJob {
  readonly id: string;
  readonly state: JobState;
  readonly concurrencyKey: string | null;
  /** The Idempotency-Key that its command repeats; null for a job that was queued past the API. */
  readonly requestKey: string | null;
  readonly cancelRequested: boolean;
  readonly events: readonly EventJson[];
}

export interface History extends ClientRecord {
  readonly jobs: readonly FinalJob[];
  readonly witness: readonly WitnessLine[];
  /** The jobs that the audit ledger names as queued over the API, once for each row. */
  readonly ledger: readonly string[];
}

/** The word before the request's key in the commands of the load. */
export const REQUEST_MARK = 'request=';

export async function readHistory(fixture: Fixture, clients: ClientRecord): Promise<History> {
  const rows = await fixture.store.db.selectFrom('jobs').selectAll().orderBy('id').execute();
  const jobs: FinalJob[] = [];
  for (const row of rows) {
    const { command } = JSON.parse(row.spec) as { command: string[] };
    const mark = command.find((word) => word.startsWith(REQUEST_MARK));
    jobs.push({
      id: row.id,
      state: row.state,
      concurrencyKey: row.concurrency_key,
      requestKey: mark?.slice(REQUEST_MARK.length) ?? null,
      cancelRequested: row.cancel_requested_at !== null,
      events: await fixture.events(row.id),
    });
  }
  const ledger = await fixture.store.db
    .selectFrom('ledger')
    .select('target')
    .where('operation', '=', 'command.run')
    .execute();
  return { ...clients, jobs, witness: fixture.witness.lines(), ledger: ledger.map((row) => row.target ?? '') };
}
