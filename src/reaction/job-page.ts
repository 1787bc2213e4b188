import { hostOf, mutes } from '../domain/mute.ts';
import { findEvent, findEventOfJob } from '../store/events.ts';
import { activeMutes } from '../store/mutes.ts';
import type { Tx } from '../store/gate.ts';
import { disarm, findArmed } from '../store/notify.ts';
import { insertPage } from '../store/pages.ts';
import type { JobRow } from '../store/schema.ts';
import type { ReactionDeps } from './parts.ts';

/** The ends that people are told of unasked. A degraded job succeeded, and who cancels one knows. */
const TOLD: readonly string[] = ['failed', 'interrupted'];

/**
 * Asks for the page of a job's end, in the transaction that tells it: of a failure, and of whatever end somebody armed
 * the job for. One page, also where both hold; what somebody armed is shown on its own, however many end. A mute holds
 * it for good.
 */
export async function pageJobEnd({ wake }: Pick<ReactionDeps, 'wake'>, tx: Tx, job: JobRow): Promise<void> {
  const armed = await findArmed(tx.db, job.id);
  if (armed !== undefined) await disarm(tx, job.id);
  if (armed === undefined && !TOLD.includes(job.state)) return;
  const reason = await heldBy(tx, job);
  const facts = { kind: 'job', jobId: job.id, runbook: job.runbook, state: job.state, exitCode: job.exit_code } as const;
  const made = await insertPage(tx, { topic: `job:${job.id}`, facts, alone: armed !== undefined }, { state: reason === null ? 'new' : 'held', reason, followed: 0 });
  if (made !== null && reason === null) tx.afterCommit(wake);
}

/** Why the announcement of a job is held: a mute of everything, of the event that made it, or of its own end's name. */
async function heldBy(tx: Tx, job: JobRow): Promise<string | null> {
  const active = await activeMutes(tx.db, await tx.dialect.clock(tx.db, tx.now));
  if (active.length === 0) return null;
  const made = await findEventOfJob(tx.db, job.id);
  const event = made === undefined ? undefined : await findEvent(tx.db, made.id);
  const host = event === undefined ? null : hostOf(JSON.parse(event.labels) as Record<string, string>);
  const subjects = [{ eventName: event?.name ?? null, host }, { eventName: job.runbook, host }];
  const mute = active.find(({ scope_kind: kind, scope_value: value }) => subjects.some((subject) => mutes({ kind, value }, subject)));
  return mute === undefined ? null : `held by ${mute.id}`;
}
