import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import type { Answer } from '../connection/client.ts';
import type { Session } from '../connection/session.ts';
import { jobsRun, pollVerb } from './poll-verb.ts';

type Readiness = Projected<'maintenance.readiness'>;

/**
 * Polls until a reboot interrupts no job, and shows that. Each change of the number of running jobs is a line on
 * standard error. Resolves to 0; throws `conflict` without a cordon, because new jobs start all the time, and
 * `unavailable` at the `deadline`, which is on the monotonic clock.
 */
export function waitUntilSafe(session: Session, answered: Answer, deadline: number): Promise<number> {
  return pollVerb(session, answered, {
    path: 'maintenance readiness',
    deadline,
    effect: 'the jobs that are recorded as running do not end',
    // Any daemon marks the jobs of one that is gone.
    needs: () => ({ node: null, claims: false }),
    look(data, late) {
      const { cordoned, in_flight: running, safe_to_reboot: isSafe } = data as Readiness;
      if (isSafe) return { over: true };
      if (!cordoned)
        throw new Failure('conflict', 'Not cordoned, so new jobs start; run svc maintenance cordon first.');
      if (late) throw new Failure('unavailable', `Not safe to reboot: ${jobsRun(running)}.`);
      return { over: false, words: `Waiting: ${jobsRun(running)}.` };
    },
  });
}
