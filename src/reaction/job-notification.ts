import { type Announced, hostOf } from '../domain/rules/mute.ts';
import { findEvent, findEventOfJob } from '../store/events/events.ts';
import type { Tx } from '../store/engine/tx.ts';
import { disarm, findArmed } from '../store/notify/endpoints.ts';
import { insertNotification } from '../store/notify/notifications.ts';
import type { JobRow } from '../store/schema/schema.ts';
import { holdingMute, notificationState } from './active-mute.ts';
import type { ReactionDeps } from './types.ts';

/** The ends that people are told of unasked. A degraded job succeeded, and who cancels one knows. */
const TOLD: readonly string[] = ['failed', 'interrupted'];

/**
 * Asks for the page of a job's end, in the transaction that tells it: of a failure, and of whatever end somebody armed
 * the job for. One page, also where both hold; what somebody armed is shown on its own, however many end. A mute holds
 * it for good: the mute's id is the answer.
 */
export async function notifyJobEnd({ wake }: Pick<ReactionDeps, 'wake'>, tx: Tx, job: JobRow): Promise<string | null> {
  const armed = await findArmed(tx.db, job.id);
  if (armed !== undefined) await disarm(tx, job.id);
  if (armed === undefined && !TOLD.includes(job.state)) return null;
  const mute = await holdingMute(tx, () => subjectsOf(tx, job));
  const facts = {
    kind: 'job',
    jobId: job.id,
    runbook: job.runbook,
    state: job.state,
    exitCode: job.exit_code,
  } as const;
  const made = await insertNotification(
    tx,
    { topic: `job:${job.id}`, facts, alone: armed !== undefined },
    notificationState(mute),
  );
  if (made !== null && mute === null) tx.afterCommit(wake);
  return mute;
}

/** The announcement of a job is about the event that made it, and about the name of its own end. */
async function subjectsOf(tx: Tx, job: JobRow): Promise<readonly Announced[]> {
  const made = await findEventOfJob(tx.db, job.id);
  const event = made === undefined ? undefined : await findEvent(tx.db, made.id);
  const host = event === undefined ? null : hostOf(JSON.parse(event.labels) as Record<string, string>);
  return [
    { eventName: event?.name ?? null, host },
    { eventName: job.runbook, host },
  ];
}
