/** What notifications are about: what a mute is matched with, when it holds one and when it is previewed. */
import type { NormalEvent } from '../../domain/events/event.ts';
import { type Announced, hostOf } from '../../domain/rules/mute.ts';
import { fromJson } from '../../lib/json.ts';
import { findEvent, findEventOfJob } from '../../store/events/events.ts';
import type { Db, EventRow, JobRow, WorkflowRunRow } from '../../store/schema/schema.ts';

export function eventSubjects({ name, labels }: Pick<NormalEvent, 'name' | 'labels'>): readonly Announced[] {
  return [{ eventName: name || null, host: hostOf(labels) }];
}

/** Of a job's end: the event that made the job, and the name of its end. */
export async function jobSubjects(
  db: Db,
  job: Pick<JobRow, 'id' | 'trigger' | 'runbook'>,
): Promise<readonly Announced[]> {
  const made = await findEventOfJob(db, job);
  return endSubjects(job.runbook, made === undefined ? undefined : await findEvent(db, made.id));
}

/** Of a run's end, with the event that started the run. */
export function runSubjects(
  { workflow }: Pick<WorkflowRunRow, 'workflow'>,
  started: EventRow | undefined,
): readonly Announced[] {
  return endSubjects(`workflow:${workflow}`, started);
}

function endSubjects(ofEnd: string, event: EventRow | undefined): readonly Announced[] {
  const host = event === undefined ? null : hostOf(fromJson(event.labels));
  return [
    { eventName: event?.name ?? null, host },
    { eventName: ofEnd, host },
  ];
}
