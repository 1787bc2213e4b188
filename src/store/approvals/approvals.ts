import type { ApprovalState } from '../../domain/approvals/approval.ts';
import { newId } from '../../lib/id.ts';
import { mustHold } from '../../lib/invariants/invariants.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { PENDING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import { found, rowBy } from '../engine/rows.ts';
import type { ApprovalRow, Db, EventRow, JobRow } from '../schema/schema.ts';

/** The columns of a new approval that the caller sets. */
export interface NewApproval
  extends
    Pick<ApprovalRow, 'kind' | 'policy' | 'workspace' | 'runbook' | 'origin'>,
    Partial<Pick<ApprovalRow, 'alert' | 'rule' | 'matched_at' | 'schedule' | 'one_tap' | 'summary' | 'because'>> {
  readonly jobId: string;
  readonly planArtifactId: string | null;
  /** The digest and the serial of the plan, so that another plan cannot take its place. */
  readonly planDigest: string | null;
  readonly planSerial: number | null;
  readonly requestedBy: string;
  /** The asking chain: none of these owners may decide. */
  readonly owners: readonly string[];
  readonly ttlMs: number;
}

/**
 * Inserts an approval and returns its row. Its times are by the store's clock; the job gets the same `expires_at`. The
 * caller wakes the daemons after the commit (`tx.afterCommit`), because they have a new deadline. The unique index
 * refuses a second pending approval for one artifact.
 */
export async function insertApproval(tx: Tx, asked: NewApproval): Promise<ApprovalRow> {
  const now = await tx.dialect.clock(tx.db, tx.now);
  const columns = {
    id: newId('apr', tx.now),
    job_id: asked.jobId,
    kind: asked.kind,
    state: 'pending' as const,
    policy: asked.policy,
    workspace: asked.workspace,
    runbook: asked.runbook,
    plan_artifact_id: asked.planArtifactId,
    plan_digest: asked.planDigest,
    plan_serial: asked.planSerial,
    requested_by: asked.requestedBy,
    owners: toJson(asked.owners),
    origin: asked.origin,
    alert: asked.alert ?? null,
    rule: asked.rule ?? null,
    matched_at: asked.matched_at ?? null,
    schedule: asked.schedule ?? null,
    created_at: now,
    expires_at: now + asked.ttlMs,
    decided_at: null,
    decided_by: null,
    decided_via: null,
    reason: null,
    one_tap: asked.one_tap ?? (0 as const),
    summary: asked.summary ?? null,
    because: asked.because ?? null,
  };
  const row: ApprovalRow = { ...columns, ...tagOf(tx.ring, 'approvals', columns) };
  await tx.db.insertInto('approvals').values(row).execute();
  return row;
}

export const findApproval = rowBy('approvals', 'id');

/** Throws not_found for an unknown id. */
export async function getApproval(db: Db, id: string): Promise<ApprovalRow> {
  return found(await findApproval(db, id), 'approval', id);
}

const heldById = prepared<{ id: string }, ApprovalRow>((db, value, dialect) =>
  dialect.holdRows(db.selectFrom('approvals').selectAll().where('id', '=', value('id'))),
);

/** As `getApproval`, and locks it until the transaction ends. */
export async function holdApproval(tx: Tx, id: string): Promise<ApprovalRow> {
  return found((await heldById(tx.db, { id })).rows[0], 'approval', id);
}

/** The approval that a job needed, in any state. */
export const findApprovalOfJob = rowBy('approvals', 'job_id');

const decidedOfRun = prepared<{ runId: string }, ApprovalRow & { readonly step: string }>((db, value) =>
  db
    .selectFrom('workflow_steps')
    .innerJoin('approvals', 'approvals.job_id', 'workflow_steps.job_id')
    .selectAll('approvals')
    .select('workflow_steps.name as step')
    .where('workflow_steps.run_id', '=', value('runId'))
    .where('workflow_steps.taken_from', 'is', null)
    .where('approvals.state', '!=', PENDING)
    .orderBy('workflow_steps.position'),
);

/** The settled approvals of the steps of a workflow run, in the order of the steps. */
export async function listDecided(
  db: Db,
  runId: string,
): Promise<readonly (ApprovalRow & { readonly step: string })[]> {
  return (await decidedOfRun(db, { runId })).rows;
}

const pendingByArtifact = prepared<{ artifactId: string }, { id: string }>((db, value) =>
  db
    .selectFrom('approvals')
    .select('id')
    .where('plan_artifact_id', '=', value('artifactId'))
    .where('state', '=', PENDING),
);

/** The id of the approval that waits for a decision about this plan, if one does. */
export async function pendingForArtifact(db: Db, artifactId: string): Promise<string | null> {
  return (await pendingByArtifact(db, { artifactId })).rows[0]?.id ?? null;
}

interface ApprovalFilter {
  /** Also those that are decided or expired. */
  readonly all: boolean;
  /** Only approvals older than this one: the cursor of a long list. */
  readonly before?: string | undefined;
}

/** An approval with the columns that its summary needs. */
export interface ListedApproval extends ApprovalRow {
  readonly job_privileged: 0 | 1 | null;
  readonly job_writable: 0 | 1 | null;
  readonly job_pinned: JobRow['pinned'];
  /** Null where the job has a summary: an order may be long. */
  readonly job_spec: string | null;
  /** Of the saved plan; null without one. */
  readonly plan_summary: string | null;
  readonly destroys: number | null;
  readonly changes: number | null;
  readonly creates: number | null;
  readonly event_name: string | null;
  readonly event_labels: EventRow['labels'] | null;
  /** Of the step of a workflow: its name, and that of the workflow. */
  readonly step_name: string | null;
  readonly step_workflow: string | null;
}

/** Approvals with the columns that their summaries need. */
function listed(db: Db) {
  return db
    .selectFrom('approvals')
    .leftJoin('jobs', 'jobs.id', 'approvals.job_id')
    .leftJoin('artifacts', 'artifacts.id', 'approvals.plan_artifact_id')
    .leftJoin('events', 'events.id', 'approvals.alert')
    .leftJoin('workflow_steps as step', (join) =>
      join.onRef('step.job_id', '=', 'approvals.job_id').on('step.taken_from', 'is', null),
    )
    .leftJoin('workflow_runs as run', 'run.id', 'step.run_id')
    .selectAll('approvals')
    .select((eb) => [
      'jobs.privileged as job_privileged',
      'jobs.writable as job_writable',
      'jobs.pinned as job_pinned',
      eb.case().when('approvals.summary', 'is', null).then(eb.ref('jobs.spec')).end().as('job_spec'),
      'artifacts.summary as plan_summary',
      'artifacts.destroys',
      'artifacts.changes',
      'artifacts.creates',
      'events.name as event_name',
      'events.labels as event_labels',
      'step.name as step_name',
      'run.workflow as step_workflow',
    ]);
}

/** Newest first, at most `limit`. */
export function listApprovals(db: Db, { all, before }: ApprovalFilter, limit: number): Promise<ListedApproval[]> {
  let query = listed(db).orderBy('approvals.id', 'desc').limit(limit);
  if (!all) query = query.where('approvals.state', '=', PENDING);
  if (before !== undefined) query = query.where('approvals.id', '<', before);
  return query.execute();
}

export async function findListedApproval(db: Db, id: string): Promise<ListedApproval | undefined> {
  return listed(db).where('approvals.id', '=', id).executeTakeFirst();
}

/** Throws not_found for an unknown id. */
export async function getListedApproval(db: Db, id: string): Promise<ListedApproval> {
  return found(await findListedApproval(db, id), 'approval', id);
}

/** How a pending approval ends, and in whose name; in no one's where it expires. */
interface Settlement {
  readonly to: Exclude<ApprovalState, 'pending'>;
  readonly by: string | null;
  readonly via: string | null;
  readonly reason: string | null;
  /** Of the credential that decides; null where no one does. */
  readonly owner: string | null;
}

type SettledColumns = Pick<
  ApprovalRow,
  'state' | 'decided_at' | 'decided_by' | 'decided_via' | 'reason' | 'order_tag' | 'order_key_id'
>;

const settleRow = (compare: '>' | '<=') =>
  prepared<SettledColumns & { readonly id: string; readonly now: number }, ApprovalRow>((db, value) =>
    db
      .updateTable('approvals')
      .set({
        state: value('state'),
        decided_at: value('decided_at'),
        decided_by: value('decided_by'),
        decided_via: value('decided_via'),
        reason: value('reason'),
        order_tag: value('order_tag'),
        order_key_id: value('order_key_id'),
      })
      .where('id', '=', value('id'))
      .where('state', '=', PENDING)
      .where('expires_at', compare, value('now'))
      .returningAll(),
  );
const settleBefore = settleRow('>');
const settleAfter = settleRow('<=');

/**
 * Ends a pending approval: by a decision only before the deadline, by an expiry only from the deadline on, so that at
 * no moment both are possible. Returns the row; undefined, without a write, if it is too late or too early. The time is
 * the store's, read while the row is locked, so that a wait for another decision counts as time.
 */
export async function settle(tx: Tx, id: string, settlement: Settlement): Promise<ApprovalRow | undefined> {
  const [held] = (await heldById(tx.db, { id })).rows;
  if (held === undefined) return undefined;
  const now = await tx.dialect.clock(tx.db, tx.now);
  const { to: state, by, via, reason, owner } = settlement;
  mustHold('settle.decider', { approval: id, to: state, by, via });
  if (owner !== null)
    mustHold('settle.asker', { approval: id, owner, isAsking: fromJson(held.owners).includes(owner) });
  const decided = { state, decided_at: now, decided_by: by, decided_via: via, reason };
  const tag = { order_tag: held.order_tag, order_key_id: held.order_key_id };
  const columns = { ...tag, ...retagged(tx.ring, 'approvals', held, decided) };
  const update = state === 'expired' ? settleAfter : settleBefore;
  const [row] = (await update(tx.db, { id, now, ...columns })).rows;
  if (row !== undefined)
    mustHold('settle.time', { approval: id, to: row.state, at: row.decided_at, deadline: row.expires_at });
  return row;
}

/** Rejects the pending approval of a job that is being cancelled, also past the deadline: the job does not run. */
export async function rejectOfJob(tx: Tx, jobId: string, by: Omit<Settlement, 'to' | 'owner'>): Promise<void> {
  const found = await findApprovalOfJob(tx.db, jobId);
  const held = found === undefined ? undefined : (await heldById(tx.db, { id: found.id })).rows[0];
  if (held?.state !== 'pending') return;
  const now = await tx.dialect.clock(tx.db, tx.now);
  const decided = {
    state: 'rejected',
    decided_at: now,
    decided_by: by.by,
    decided_via: by.via,
    reason: by.reason,
  } as const;
  const update = tx.db.updateTable('approvals').set(retagged(tx.ring, 'approvals', held, decided));
  await update.where('id', '=', held.id).where('state', '=', PENDING).execute();
}

/** An approval whose deadline has come. */
export type Due = Pick<ApprovalRow, 'id' | 'job_id'>;

const due = prepared<{ now: number; limit: number }, Due>((db, value) =>
  db
    .selectFrom('approvals')
    .select(['id', 'job_id'])
    .where('state', '=', PENDING)
    .where('expires_at', '<=', value('now'))
    .orderBy('expires_at')
    .limit(value('limit')),
);

/** The oldest ones, at most `limit`; `now` by the store's clock. */
export async function listExpired(db: Db, now: number, limit: number): Promise<Due[]> {
  return (await due(db, { now, limit })).rows;
}

const earliest = prepared<object, { expires_at: number }>((db) =>
  db.selectFrom('approvals').select('expires_at').where('state', '=', PENDING).orderBy('expires_at').limit(1),
);

/**
 * When the next pending approval ends, in milliseconds since the epoch by the store's clock; null where none is
 * pending.
 */
export async function nextDeadline(db: Db): Promise<number | null> {
  return (await earliest(db, {})).rows[0]?.expires_at ?? null;
}
