import { isTerminal, type JobState } from '../../domain/jobs/job.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import type { Db } from '../../store/schema/schema.ts';
import type { Services } from '../core/services.ts';

/**
 * Between two looks at a job, in milliseconds: one that prints a thousand lines a second is not read a thousand times.
 */
const LOOK_MS = 20;

interface JobEnd {
  readonly state: JobState;
  readonly exitCode: number | null;
}

/**
 * Waits until the job has ended; null when `signal` aborts first. Leaves no timer and no listener. Throws not_found.
 */
export async function awaitJob(
  db: Db,
  services: Pick<Services, 'jobChanged' | 'clock'>,
  jobId: string,
  signal: AbortSignal,
): Promise<JobEnd | null> {
  while (!signal.aborted) {
    const looked = new AbortController();
    // Subscribed before the job is read, so that no change in between is missed.
    const changed = services.jobChanged(jobId, AbortSignal.any([signal, looked.signal]));
    try {
      const { state, exit_code: exitCode } = await getJob(db, jobId);
      if (isTerminal(state)) return { state, exitCode };
      await changed;
    } finally {
      looked.abort();
    }
    await pause(services.clock, LOOK_MS, signal);
  }
  return null;
}

/** A signal that aborts after `ms` milliseconds or with `signal`; `clear` takes its timer and listener away. */
export function deadline(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; clear(): void } {
  const over = new AbortController();
  const end = (): void => over.abort();
  const cancel = clock.after(ms, end);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return {
    signal: over.signal,
    clear() {
      cancel();
      signal.removeEventListener('abort', end);
    },
  };
}
