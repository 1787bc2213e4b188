import { isTerminal, type JobEvent } from '../domain/job.ts';
import { decodeChunk } from '../lib/chunk.ts';
import { rfc3339 } from '../lib/clock.ts';
import { chunksAfter, FIRST_SEQ } from '../store/chunks.ts';
import { getJob } from '../store/jobs.ts';
import type { Db, JobRow } from '../store/schema.ts';
import type { StreamEvent } from './reply.ts';
import { jobStreamEvent } from './reply.ts';
import type { Services } from './services.ts';

/** At most this many events in one answer: ask again with the last `seq`. */
export const EVENTS_MAX = 5_000;
/** Events that a follower is handed at a time. Small, because each waits in memory for a slow reader. */
const TAIL_PAGE = 500;
/** Chunks read at a time: 256 KiB each before compression. */
const CHUNKS_PER_READ = 4;

/** Up to `limit` events after `after`, oldest first. */
export async function readEvents(db: Db, job: JobRow, after: number, limit: number): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  let last = after;
  if (last < FIRST_SEQ && limit > 0) {
    events.push({ seq: FIRST_SEQ, at: rfc3339(job.created_at), type: 'state', state: job.initial_state, exit_code: null });
    last = FIRST_SEQ;
  }
  while (events.length < limit) {
    const chunks = await chunksAfter(db, job.id, last, CHUNKS_PER_READ);
    for (const chunk of chunks) {
      if (events.length >= limit) break;
      for (const event of decodeChunk(Buffer.from(chunk.data), { after: last, limit: limit - events.length })) {
        // Chunks are written by this program alone: their states are job states.
        events.push(event as JobEvent);
      }
      last = events.at(-1)?.seq ?? last;
    }
    if (chunks.length < CHUNKS_PER_READ) break;
  }
  return events;
}

/**
 * Follows a job: its events after `after` as they come, then one `end`, which has no id. The job is re-read after
 * its events, so an end is told only when every event before it was.
 */
export async function* followJob(
  db: Db,
  services: Pick<Services, 'jobChanged'>,
  jobId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let last = after;
  while (!signal.aborted) {
    const changed = new AbortController();
    const woken = services.jobChanged(jobId, AbortSignal.any([signal, changed.signal]));
    try {
      const job = await getJob(db, jobId);
      const events = await readEvents(db, job, last, TAIL_PAGE);
      for (const event of events) yield jobStreamEvent(event);
      last = events.at(-1)?.seq ?? last;
      if (events.length === TAIL_PAGE) continue;
      if (isTerminal(job.state)) {
        yield { event: 'end', data: { state: job.state, exit_code: job.exit_code } };
        return;
      }
      await woken;
    } finally {
      changed.abort();
    }
  }
}
