/**
 * That who ordered a job follows it (`--wait`): its failure then notifies quietly. It is renewed while the stream of
 * the job is open.
 */
import { type Clock, pause } from '../../lib/clock.ts';
import { beginFollow } from '../../store/jobs/follows.ts';
import type { Store } from '../../store/store.ts';
import type { StreamEvent } from '../core/reply.ts';

const RENEWED_MS = 20_000;

/** The same events; while they are read, the job counts as followed. It ends by itself, as a client may come again. */
export async function* followed(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  jobId: string,
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const over = new AbortController();
  const renewing = renew(store, clock, jobId, over.signal);
  try {
    yield* events;
  } finally {
    over.abort();
    await renewing;
  }
}

async function renew(store: Store, clock: Clock, jobId: string, over: AbortSignal): Promise<void> {
  try {
    do await store.write((tx) => beginFollow(tx, jobId));
    while (await pause(clock, RENEWED_MS, over));
  } catch {
    // The events matter more than the row: without it a failure notifies as any other does.
  }
}
