import { isTerminal, type JobEvent, type JobState, type PartialEvent } from '../../domain/jobs/job.ts';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { chunksAfter, FIRST_SEQ } from '../../store/jobs/chunks.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { findPartial } from '../../store/jobs/partials.ts';
import type { ChunkRow, Db, JobRow } from '../../store/schema/schema.ts';
import type { StreamEvent } from '../core/reply.ts';
import { jobStreamEvent } from '../core/reply.ts';
import type { Services } from '../core/services.ts';

/** At most this many events in one answer: ask again with the last `seq`. */
export const EVENTS_MAX = 5_000;
/** Events that a follower gets before its job is read again. */
const TAIL_BATCH = 500;
/**
 * Chunks read at a time, of up to 256 KiB each. For a follower one: what was read waits in memory for a slow reader.
 */
const CHUNKS_PER_READ = 4;
const CHUNKS_PER_TAIL_READ = 1;

/**
 * Up to `limit` events after `after`, oldest first, in batches of one chunk each: with lines of 64 KiB, 5,000 events
 * have 320 MB.
 */
export async function* readEventBatches(
  db: Db,
  job: JobRow,
  after: number,
  limit: number,
  chunksPerRead: number = CHUNKS_PER_READ,
): AsyncGenerator<JobEvent[]> {
  let last = after;
  let left = limit;
  if (last < FIRST_SEQ && left > 0) {
    yield [{ seq: FIRST_SEQ, at: rfc3339(job.created_at), type: 'state', state: job.initial_state, exit_code: null }];
    last = FIRST_SEQ;
    left -= 1;
  }
  while (left > 0) {
    const chunks = await chunksAfter(db, job.id, last, chunksPerRead);
    const full = chunks.length === chunksPerRead;
    while (chunks.length > 0) {
      const events = takeEvents(chunks, last, left);
      last = events.at(-1)?.seq ?? last;
      left -= events.length;
      if (events.length > 0) yield events;
      if (left <= 0) break;
    }
    if (!full) return;
  }
}

/**
 * Decodes the first chunk and takes it off the list: its bytes are not held while a reader takes its time over the
 * events.
 */
function takeEvents(chunks: ChunkRow[], after: number, limit: number): JobEvent[] {
  const chunk = chunks.shift();
  // Chunks are written by this program alone: their states are job states.
  return chunk === undefined ? [] : decodeChunk<JobState>(chunk.data, { after, limit });
}

/** The same as one list, for a caller that knows that it is short. */
export async function readEvents(db: Db, job: JobRow, after: number, limit: number): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const batch of readEventBatches(db, job, after, limit)) events.push(...batch);
  return events;
}

const NO_PARTIAL: PartialEvent = { type: 'partial', stream: 'stdout', text: '' };

/** The unfinished line of a job; without one, as a reader sees that `before` is gone. */
async function partialOf(db: Db, jobId: string, before: PartialEvent): Promise<PartialEvent> {
  const { stream, data } = (await findPartial(db, jobId)) ?? { stream: before.stream, data: '' };
  return { type: 'partial', stream, text: Buffer.from(data).toString() };
}

/**
 * Follows a job: its events after `after` as they come, then one `end`, which has no id. The job is re-read after
 * its events, so the end is sent only after every event before it. Once the events are read, an unfinished line is sent
 * as `partial`, also without id: after other events again, because they end it for the reader.
 */
export async function* followJob(
  db: Db,
  services: Pick<Services, 'jobChanged'>,
  jobId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let last = after;
  let shown = NO_PARTIAL;
  while (!signal.aborted) {
    const changed = new AbortController();
    const woken = services.jobChanged(jobId, AbortSignal.any([signal, changed.signal]));
    try {
      const job = await getJob(db, jobId);
      const before = last;
      for await (const batch of readEventBatches(db, job, last, TAIL_BATCH, CHUNKS_PER_TAIL_READ)) {
        for (const event of batch) yield jobStreamEvent(event);
        last = batch.at(-1)?.seq ?? last;
      }
      if (last > before) shown = { ...shown, text: '' };
      if (last > before) continue;
      if (isTerminal(job.state)) {
        yield { event: 'end', data: { state: job.state, exit_code: job.exit_code } };
        return;
      }
      const partial = await partialOf(db, jobId, shown);
      if (partial.text !== shown.text || partial.stream !== shown.stream) yield { event: 'partial', data: partial };
      shown = partial;
      await woken;
    } finally {
      changed.abort();
    }
  }
}
