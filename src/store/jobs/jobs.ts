import { sql } from 'kysely';
import type { InitialState, JobKind, JobState, JobTrigger } from '../../domain/jobs/job.ts';
import { writesOutside } from '../../domain/jobs/order.ts';
import { toJson } from '../../lib/json.ts';
import type { Tx } from '../engine/tx.ts';
import { NOT_BLOCKED, PRIVILEGED, QUEUED, RUNNING, WRITABLE } from '../engine/literals.ts';
import { tagOf } from '../engine/tags/tags.ts';
import { prepared } from '../engine/prepared.ts';
import { countOf, found, hasChanged, insertRow, rowBy } from '../engine/rows.ts';
import type { Db, JobRow } from '../schema/schema.ts';

/** What a caller decides about a new job; the rest of the row follows. */
export interface NewJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: InitialState;
  readonly runbook: string;
  readonly source: string | null;
  readonly trigger: JobTrigger;
  readonly workspace: string | null;
  readonly concurrencyKey: string | null;
  readonly privileged: boolean;
  readonly createdAt: number;
  readonly requestedBy: string;
  readonly owners: readonly string[];
  readonly redriveOf: string | null;
  readonly rerunOf?: string;
  /** JSON for the runner. */
  readonly spec: string;
  readonly timeoutMs: number;
  /** Of a job that waits for approval: when the request ends unanswered. */
  readonly expiresAt?: number;
  /** The saved plan that the job carries out. */
  readonly planArtifactId?: string;
  /** What it does, in the words of who wrote it. */
  readonly summary?: string | null;
  /** The reason that the requester gave, for people. */
  readonly because?: string | null;
  /** The name of the daemon that has to run it; without one any may. */
  readonly node?: string | null;
  /** Of a job that waits for approval: see Pinned. */
  readonly pinned?: JobRow['pinned'];
}

/**
 * Inserts a job; one whose concurrency key another queued or running job holds is not claimable yet. It is
 * tagged: the caller has made sure that it was ordered on the machine, or follows from an order whose tag it
 * checked.
 */
export async function insertJob(tx: Tx, job: NewJob): Promise<void> {
  const blocked = job.concurrencyKey !== null && job.state === 'queued' && (await keyIsTaken(tx, job.concurrencyKey));
  const row = {
    id: job.id,
    kind: job.kind,
    state: job.state,
    initial_state: job.state,
    runbook: job.runbook,
    source: job.source,
    trigger: job.trigger,
    workspace: job.workspace,
    concurrency_key: job.concurrencyKey,
    blocked: blocked ? 1 : 0,
    privileged: job.privileged ? 1 : 0,
    created_at: job.createdAt,
    requested_by: job.requestedBy,
    owners: toJson(job.owners),
    redrive_of: job.redriveOf,
    rerun_of: job.rerunOf ?? null,
    spec: job.spec,
    timeout_ms: job.timeoutMs,
    expires_at: job.expiresAt ?? null,
    plan_artifact_id: job.planArtifactId ?? null,
    summary: job.summary ?? null,
    node: job.node ?? null,
    pinned: job.pinned ?? null,
    because: job.because ?? null,
    writable: writesOutside(job.privileged, job.spec),
    lease_generation: 0,
  } as const;
  tx.later(insertRow(tx.db, 'jobs', { ...row, ...tagOf(tx.ring, 'jobs', row) }));
}

/** The jobs of a key that run or may be claimed: never more than one. Two lookups, each of which an index can serve. */
function ahead(db: Db, key: string) {
  const ofKey = db.selectFrom('jobs as holder').select(sql.lit(1).as('one')).where('holder.concurrency_key', '=', key);
  return ofKey
    .where('holder.state', '=', RUNNING)
    .unionAll(ofKey.where('holder.state', '=', QUEUED).where('holder.blocked', '=', NOT_BLOCKED));
}

const holderOf = prepared<{ key: string }, object>((db, value) => ahead(db, value('key')).limit(1));

/** Whether a job that enters the queue of `key` has to wait. Holds the key until the transaction ends. */
async function keyIsTaken(tx: Tx, key: string): Promise<boolean> {
  await tx.dialect.lockKey(tx.db, key);
  return (await holderOf(tx.db, { key })).rows.length > 0;
}

const freeOldest = prepared<{ key: string }, unknown>((db, value) =>
  db
    .updateTable('jobs')
    .set({ blocked: NOT_BLOCKED })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('jobs as waiting')
        .select((min) => min.fn.min('waiting.id').as('id'))
        .where('waiting.concurrency_key', '=', value('key'))
        .where('waiting.state', '=', QUEUED),
    )
    .where((eb) => eb.not(eb.exists(ahead(db, value('key'))))),
);

/**
 * Lets the oldest waiting job of `key` be claimed, unless one of that key runs or may be claimed already: ids of
 * several processes, and jobs that waited for an approval, may enter the queue before older ones that are ahead.
 */
export async function releaseKey(tx: Tx, key: string | null): Promise<void> {
  if (key === null) return;
  await tx.dialect.lockKey(tx.db, key);
  await freeOldest(tx.db, { key });
}

export const findJob = rowBy('jobs', 'id');

/** Throws not_found for an unknown id. */
export async function getJob(db: Db, id: string): Promise<JobRow> {
  return found(await findJob(db, id), 'job', id);
}

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly runbook?: string | undefined;
  readonly concurrencyKey?: string | undefined;
  /** Only jobs that a daemon of this name has claimed. */
  readonly node?: string | undefined;
  /** Only jobs older than this one: the cursor of a long list. */
  readonly before?: string | undefined;
}

/** Newest first, at most `limit`. */
export function listJobs(db: Db, filter: JobFilter, limit: number): Promise<JobRow[]> {
  let query = db.selectFrom('jobs').selectAll().orderBy('id', 'desc').limit(limit);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  if (filter.runbook !== undefined) query = query.where('runbook', '=', filter.runbook);
  if (filter.concurrencyKey !== undefined) query = query.where('concurrency_key', '=', filter.concurrencyKey);
  const { node } = filter;
  if (node !== undefined)
    query = query.where('daemon_id', 'in', (eb) => eb.selectFrom('daemons').select('id').where('node', '=', node));
  if (filter.before !== undefined) query = query.where('id', '<', filter.before);
  return query.execute();
}

/** Runs queued since `since` that opted out of the sandbox. */
export function countPrivileged(db: Db, since: number): Promise<number> {
  return countOf(db.selectFrom('jobs').where('privileged', '=', PRIVILEGED).where('created_at', '>=', since));
}

/** Runs queued since `since` that may write outside their directory, and are not privileged. */
export function countWritable(db: Db, since: number): Promise<number> {
  return countOf(db.selectFrom('jobs').where('writable', '=', WRITABLE).where('created_at', '>=', since));
}

/** Jobs that run, and those that ran and ended at `since` (in milliseconds) or later: their ids, the newest first. */
export async function listRunSince(db: Db, since: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('started_at', 'is not', null)
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('finished_at', '>=', since)]))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Asks the daemon that runs the job to stop it; `reason` is kept if that ends it. True when the job was running and no
 * cancel had been requested.
 */
export function requestCancel(tx: Tx, id: string, reason: string | null = null): Promise<boolean> {
  const update = tx.db.updateTable('jobs').set({ cancel_requested_at: tx.now, reason }).where('id', '=', id);
  return hasChanged(update.where('state', '=', 'running').where('cancel_requested_at', 'is', null));
}

const firstReady = prepared<{ daemonId: string }, { id: string }>((db, value, dialect) => ({
  compile: () => dialect.readyJobs(value('daemonId'), 1, 'look').compile(db),
}));

/** Whether this daemon could claim a job at the moment. An empty id stands for a daemon without a name. */
export async function hasClaimable(db: Db, daemonId: string): Promise<boolean> {
  return (await firstReady(db, { daemonId })).rows.length > 0;
}

/** The daemons that jobs wait for which no other daemon may claim, by name, each with the number of its jobs. */
export async function awaitedNodes(db: Db): Promise<{ readonly node: string; readonly jobs: number }[]> {
  const rows = await db
    .selectFrom('jobs')
    .select((eb) => ['node', eb.fn.countAll<number>().as('jobs')])
    .where('state', '=', QUEUED)
    .where('blocked', '=', NOT_BLOCKED)
    .where('node', 'is not', null)
    .groupBy('node')
    .orderBy('node')
    .execute();
  return rows.map(({ node, jobs }) => ({ node: node ?? '', jobs }));
}
