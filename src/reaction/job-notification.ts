import { failureReason } from '../domain/jobs/end-reason.ts';
import type { Tx } from '../store/engine/tx.ts';
import { isFollowed } from '../store/jobs/follows.ts';
import { disarm, findArmed } from '../store/notify/endpoints.ts';
import { insertNotification } from '../store/notify/notifications.ts';
import type { JobRow } from '../store/schema/schema.ts';
import { holdingMute, notificationState } from './mutes/active-mute.ts';
import { jobSubjects } from './mutes/subjects.ts';
import type { ReactionDeps } from './types.ts';

/** The ends that always cause a notification. A degraded job succeeded, and the canceller of a job knows of its end. */
const NOTIFIED: readonly string[] = ['failed', 'interrupted'];

/**
 * Makes the notification of a job's end, in the transaction that records the end: for a failure, and for any end of an
 * armed job. One notification, even if both apply; that of an armed job is never folded with others. A mute suppresses
 * it for good; then the result is the id of the mute.
 */
export async function notifyJobEnd({ wake }: Pick<ReactionDeps, 'wake'>, tx: Tx, job: JobRow): Promise<string | null> {
  const armed = await findArmed(tx.db, job.id);
  if (armed !== undefined) await disarm(tx, job.id);
  if (armed === undefined && !NOTIFIED.includes(job.state)) return null;
  const mute = await holdingMute(tx, () => jobSubjects(tx.db, job));
  const facts = {
    kind: 'job',
    jobId: job.id,
    runbook: job.runbook,
    state: job.state,
    exitCode: job.exit_code,
    reason: job.reason === failureReason({ exitCode: job.exit_code }) ? null : job.reason,
    // Who asked to be notified is, as ever.
    ...(armed === undefined && (await isFollowed(tx.db, job.id, tx.now)) ? { followed: true } : {}),
  } as const;
  const made = await insertNotification(
    tx,
    { topic: `job:${job.id}`, facts, alone: armed !== undefined },
    notificationState(mute),
  );
  if (made !== null && mute === null) tx.afterCommit(wake);
  return mute;
}
