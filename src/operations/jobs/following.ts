/**
 * That who ordered a job follows it (`--wait`): its failure then notifies quietly. It is renewed while the stream of
 * the job is open.
 */
import { type Clock, pause } from '../../lib/clock.ts';
import { beginFollow, endFollow } from '../../store/jobs/follows.ts';
import type { Store } from '../../store/store.ts';
import type { StreamEvent } from '../core/reply.ts';

const RENEWED_MS = 20_000;

/** The same events; the job counts as followed until its end was sent, or the reader left. */
export async function* followed(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  jobId: string,
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const over = new AbortController();
  const renewing = renew(store, clock, jobId, over.signal);
  let hasEnded = false;
  try {
    for await (const event of events) {
      hasEnded ||= event.event === 'end';
      yield event;
    }
  } finally {
    over.abort();
    await renewing;
    // The notification of the end may not be made yet.
    if (!hasEnded) await tried(() => store.write((tx) => endFollow(tx, jobId)));
  }
}

async function renew(store: Store, clock: Clock, jobId: string, over: AbortSignal): Promise<void> {
  do await tried(() => store.write((tx) => beginFollow(tx, jobId)));
  while (await pause(clock, RENEWED_MS, over));
}

/** The events matter more than the row: without it a failure notifies as any other does. */
async function tried(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch {
    // The store says what is wrong with it where it matters.
  }
}
