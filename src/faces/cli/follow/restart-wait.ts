import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import type { Answer } from '../connection/client.ts';
import type { Session } from '../connection/session.ts';
import { jobsRun, pollVerb } from './poll-verb.ts';

type Restart = Projected<'maintenance.restart'>;

/**
 * Polls until the new program has started, and shows that. Resolves to 0; throws `conflict` where the restart was
 * aborted, and `unavailable` at the `deadline`, which is on the monotonic clock: then the restart continues. Throws
 * `unavailable` too where the daemon does not answer any more.
 */
export async function waitForRestart(session: Session, answered: Answer, deadline: number): Promise<number> {
  let isStarting = false;
  const polled = pollVerb(session, answered, {
    path: 'maintenance restart-status',
    deadline,
    effect: 'its restart does not continue',
    needs: (data) => ({ node: (data as Restart).node, claims: false }),
    look(data, late) {
      const { state, reason, in_flight: running, node } = data as Restart;
      // A step before it may have been over between two looks.
      if (state === 'idle') return { over: true, words: 'The new program has started.' };
      if (state === 'aborted') throw new Failure('conflict', `The restart was aborted: ${reason ?? 'unknown'}.`);
      if (late) throw new Failure('unavailable', `The restart of ${node} is not over; it continues.`);
      if (state === 'requested') return { over: false, words: 'The new program is tried.' };
      isStarting = running === 0;
      return { over: false, words: isStarting ? 'The new program starts.' : `Waiting: ${jobsRun(running)}.` };
    },
  });
  return polled.catch((error: unknown) => {
    const isLost = isStarting && session.terminal.clock.monotonic() < deadline;
    if (!isLost || !(error instanceof Failure) || error.code !== 'unavailable') throw error;
    throw new Failure(
      'unavailable',
      `${error.message} The new program did not report; look at the log of the service.`,
    );
  });
}
