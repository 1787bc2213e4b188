import type { NotificationFacts } from '../../domain/notifications.ts';
import { type Announced, mutes, type MuteTarget } from '../../domain/rules/mute.ts';
import type { Clock } from '../../lib/clock.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import { fromJson } from '../../lib/json.ts';
import { eventOf, findEvent } from '../../store/events/events.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import { listNotifications } from '../../store/notify/notifications.ts';
import type { Db } from '../../store/schema/schema.ts';
import { findRun } from '../../store/workflows/runs.ts';
import { eventSubjects, jobSubjects, runSubjects } from './subjects.ts';

/** The kinds that a mute may hold. */
const MUTABLE = ['job', 'rule', 'workflow'] as const;
type MutableFacts = Extract<NotificationFacts, { kind: (typeof MUTABLE)[number] }>;

const WINDOW_MS = 7 * 86_400_000;
/** Each needs up to three queries: about a second on SQLite (measured, 5,000 jobs of rules), more in a network. */
const EXAMINED_MAX = 5_000;
/** Read at a time, so that no read holds up the others. */
const BATCH = 100;
/** Shown of those that would have been held: enough to see what they are. */
const NEWEST_MAX = 20;

interface Held {
  readonly made: number;
  /** The name of the event, or of the job's or run's end. */
  readonly about: string;
  readonly host: string | null;
  readonly job_id: string | null;
  readonly event_id: string | null;
  readonly run_id: string | null;
}

interface MutePreview {
  /** From here on every stored notification was examined; milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly examined: number;
  readonly held: number;
  /** Newest first. */
  readonly newest: readonly Held[];
}

/**
 * The notifications of the last 7 days that a mute would have held, matched as `holdingMute` matches those that are
 * made; also those that another mute did hold. `now` in milliseconds by the store's clock.
 */
export async function previewMute(db: Db, target: MuteTarget, now: number, clock: Clock): Promise<MutePreview> {
  const since = now - WINDOW_MS;
  const newest: Held[] = [];
  const timer = new YieldTimer(clock);
  let [examined, held] = [0, 0];
  let batch: Awaited<ReturnType<typeof listNotifications>> = [];
  do {
    batch = await listNotifications(db, { kinds: MUTABLE, sinceMs: since, before: batch.at(-1)?.id }, BATCH);
    for (const { detail, created_at: made } of batch) {
      const facts = fromJson(detail) as MutableFacts;
      const subject = (await subjectsOf(db, facts)).find((each) => mutes(target, each));
      if (subject !== undefined && held++ < NEWEST_MAX) newest.push({ made, ...shown(facts, subject) });
      if (timer.isDue) await timer.breathe();
    }
    examined += batch.length;
  } while (batch.length === BATCH && examined < EXAMINED_MAX);
  return { sinceMs: batch.length === BATCH ? (batch.at(-1)?.created_at ?? since) : since, examined, held, newest };
}

/** Of a job or a run that is not stored any more, the name of its end is left. */
async function subjectsOf(db: Db, facts: MutableFacts): Promise<readonly Announced[]> {
  switch (facts.kind) {
    case 'job': {
      const job = await findJob(db, facts.jobId);
      return job === undefined ? [{ eventName: facts.runbook, host: null }] : jobSubjects(db, job);
    }
    case 'rule': {
      const event = await findEvent(db, facts.eventId);
      return event === undefined ? [] : eventSubjects(eventOf(event));
    }
    case 'workflow': {
      const eventId = (await findRun(db, facts.runId))?.event_id ?? null;
      return runSubjects(facts, eventId === null ? undefined : await findEvent(db, eventId));
    }
  }
}

function shown(facts: MutableFacts, { eventName, host }: Announced): Omit<Held, 'made'> {
  return {
    about: eventName ?? nameOf(facts),
    host,
    job_id: facts.kind === 'job' ? facts.jobId : null,
    event_id: facts.kind === 'rule' ? facts.eventId : null,
    run_id: facts.kind === 'workflow' ? facts.runId : null,
  };
}

function nameOf(facts: MutableFacts): string {
  switch (facts.kind) {
    case 'job':
      return facts.runbook;
    case 'rule':
      return facts.event;
    case 'workflow':
      return `workflow:${facts.workflow}`;
  }
}
