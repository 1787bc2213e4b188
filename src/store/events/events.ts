import { sql } from 'kysely';
import {
  EVENT_OUTCOMES,
  type EventFacts,
  type EventOutcome,
  type EventSource,
  type EventStatus,
  type NormalEvent,
} from '../../domain/events/event.ts';
import type { JobState, JobTrigger } from '../../domain/jobs/job.ts';
import { pooledBytes } from '../../lib/random.ts';
import { fromJson } from '../../lib/json.ts';
import { sumOf, totalWithNew } from '../engine/counts.ts';
import type { Counter, Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import type { Db, EventRow, JobRow } from '../schema/schema.ts';

/** The rows of the counter of an outcome: two processes that commit concurrently seldom wait for each other. */
const CHAINS = 64;

const addCount = prepared<{ outcome: EventOutcome; count: number }, unknown>((db, value) =>
  db
    .insertInto('event_counts')
    .values({ chain: String((pooledBytes(1)[0] ?? 0) % CHAINS), outcome: value('outcome'), count: value('count') })
    .onConflict((conflict) =>
      conflict.columns(['chain', 'outcome']).doUpdateSet({ count: totalWithNew('event_counts', 'count') }),
    ),
);

const COUNTERS = Object.fromEntries(
  EVENT_OUTCOMES.map((outcome): [EventOutcome, Counter] => [
    outcome,
    { name: outcome, add: (db, count) => addCount(db, { outcome, count }) },
  ]),
) as Record<EventOutcome, Counter>;

/** Appends a row to the ledger of events, and counts it. */
export function insertEvent(tx: Tx, row: EventRow): void {
  tx.later(insertRow(tx.db, 'events', row));
  tx.count(COUNTERS[row.outcome]);
}

/** All-time numbers of events by their outcome. */
export async function countEvents(db: Db): Promise<Readonly<Record<EventOutcome, number>>> {
  const rows = await db
    .selectFrom('event_counts')
    .select(['outcome', sumOf('count').as('count')])
    .groupBy('outcome')
    .execute();
  const counts = Object.fromEntries(EVENT_OUTCOMES.map((outcome) => [outcome, 0])) as Record<EventOutcome, number>;
  for (const { outcome, count } of rows) counts[outcome] = Number(count);
  return counts;
}

export const findEvent = rowBy('events', 'id');

/** Throws not_found for an unknown id. */
export async function getEvent(db: Db, id: string): Promise<EventRow> {
  return found(await findEvent(db, id), 'event', id);
}

/** What lists show of an event: without its annotations and the trace, which are most of it. */
export type ListedEvent = Omit<EventRow, 'annotations' | 'trace' | 'depth'>;

const LISTED = [
  'id',
  'source',
  'name',
  'status',
  'netgroup',
  'severity',
  'fingerprint',
  'labels',
  'outcome',
  'reason',
  'rule',
  'job_id',
  'approval_id',
  'received_at',
  'check_observations',
] as const satisfies readonly (keyof ListedEvent)[];

interface EventFilter {
  readonly source?: string | undefined;
  readonly outcome?: EventOutcome | undefined;
  /** Only events older than this one: the cursor of a long list. */
  readonly before?: string | undefined;
}

/** Newest first, at most `limit`. */
export function listEvents(db: Db, filter: EventFilter, limit: number): Promise<ListedEvent[]> {
  let query = db.selectFrom('events').select(LISTED).orderBy('id', 'desc').limit(limit);
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  if (filter.outcome !== undefined) query = query.where('outcome', '=', filter.outcome);
  if (filter.before !== undefined) query = query.where('id', '<', filter.before);
  return query.execute();
}

/** Among the newest `limit` events, those that one of these rules decided; newest first. */
export function newestOfRules(db: Db, rules: readonly string[], limit: number): Promise<EventRow[]> {
  const newest = db.selectFrom('events').selectAll().orderBy('id', 'desc').limit(limit).as('newest');
  return db.selectFrom(newest).selectAll().where('rule', 'in', rules).orderBy('id', 'desc').execute();
}

/** How jobs came that an event may have made: the others need no query. */
const TRIGGERS_OF_EVENTS: readonly JobTrigger[] = ['rule', 'host', 'workflow'];

const eventOfJob = prepared<{ jobId: string }, Pick<EventRow, 'id' | 'depth'>>((db, value) =>
  // Written out, so that the partial index of events with a job serves the query.
  db
    .selectFrom('events')
    .select(['id', 'depth'])
    .where('job_id', '=', value('jobId'))
    .where('job_id', 'is not', null)
    .unionAll(
      db
        .selectFrom('workflow_steps as step')
        .innerJoin('workflow_runs as run', 'run.id', 'step.run_id')
        .innerJoin('events', 'events.id', 'run.event_id')
        .select(['events.id', 'events.depth'])
        .where('step.job_id', '=', value('jobId'))
        .where('step.job_id', 'is not', null)
        .where('step.taken_from', 'is', null),
    )
    .limit(1),
);

/**
 * The event that made a job, or the run of a workflow that the job is a step of, and how many jobs stood before it;
 * undefined for a job that somebody asked for.
 */
export async function findEventOfJob(
  db: Db,
  { id: jobId, trigger }: Pick<JobRow, 'id' | 'trigger'>,
): Promise<Pick<EventRow, 'id' | 'depth'> | undefined> {
  return TRIGGERS_OF_EVENTS.includes(trigger) ? (await eventOfJob(db, { jobId })).rows[0] : undefined;
}

/** One of the things that a rule acted for. */
interface FireKey {
  readonly rule: string;
  readonly fingerprint: string;
  /** Empty where the event has none. */
  readonly status: string;
}

interface Fire {
  readonly status: string;
  readonly fired_at: number;
  readonly job_id: string | null;
  readonly job_state: JobState | null;
}

const firesOf = prepared<Omit<FireKey, 'status'>, Fire>((db, value) =>
  db
    .selectFrom('rule_fires')
    .leftJoin('jobs', 'jobs.id', 'rule_fires.job_id')
    .leftJoin('workflow_steps as step', (join) =>
      join.onRef('step.job_id', '=', 'rule_fires.job_id').on('step.taken_from', 'is', null),
    )
    .leftJoin('workflow_runs as run', 'run.id', 'step.run_id')
    .select((eb) => [
      'rule_fires.status as status',
      'rule_fires.fired_at as fired_at',
      'rule_fires.job_id as job_id',
      // What the rule started is open until its whole run has ended.
      eb.fn.coalesce('run.state', 'jobs.state').as('job_state'),
    ])
    .where('rule_fires.rule', '=', value('rule'))
    .where('rule_fires.fingerprint', '=', value('fingerprint')),
);

/** What a rule last did for a thing: one row for each status that it acted on. */
export async function listFires(db: Db, key: Omit<FireKey, 'status'>): Promise<readonly Fire[]> {
  return (await firesOf(db, { rule: key.rule, fingerprint: key.fingerprint })).rows;
}

type NewFire = FireKey & { readonly firedAt: number; readonly jobId: string | null };

const upsertFire = prepared<NewFire, unknown>((db, value) =>
  db
    .insertInto('rule_fires')
    .values({
      rule: value('rule'),
      fingerprint: value('fingerprint'),
      status: value('status'),
      fired_at: value('firedAt'),
      job_id: value('jobId'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['rule', 'fingerprint', 'status'])
        .doUpdateSet({ fired_at: sql.ref('excluded.fired_at'), job_id: sql.ref('excluded.job_id') }),
    ),
);

/** Notes that a rule acted; `firedAt` by the store's clock. */
export function recordFire(tx: Tx, fire: NewFire): void {
  tx.later(upsertFire(tx.db, fire));
}

/** An event of the ledger, as it came in. */
export function eventOf(row: EventRow): NormalEvent {
  return {
    source: row.source as EventSource,
    name: row.name ?? '',
    status: row.status as EventStatus | null,
    severity: row.severity,
    fingerprint: row.fingerprint ?? '',
    labels: fromJson(row.labels),
    annotations: fromJson(row.annotations),
  };
}

/** The same as rules see it, had it come in at `receivedAt`: milliseconds since the epoch. */
export function factsOf(row: EventRow, receivedAt: number): EventFacts {
  const event = eventOf(row);
  return { ...event, netgroup: event.labels['netgroup'] ?? null, receivedAt };
}
