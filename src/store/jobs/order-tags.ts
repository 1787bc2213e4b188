import { timingSafeEqual } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { needsTag, workflowNeedsTag } from '../../domain/jobs/order.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { Tx } from '../engine/tx.ts';
import type { JobRow, RuleRow, ScheduleRow, WorkflowRow, WorkflowRunRow } from '../schema/schema.ts';

/**
 * Tags over orders that reach beyond the sandbox: HMAC over the id and the full stored order, by a key that is not in
 * the database. An attacker who can write only the database can neither create such an order nor change one.
 */

/** The columns of a tag. Null for orders that need none. */
interface OrderTag {
  readonly order_tag: string | null;
  readonly order_key_id: string | null;
}

// The columns that a tag covers: not those that change while the order exists, such as the state of a job.
const JOB_COLUMNS = [
  'id',
  'kind',
  'initial_state',
  'runbook',
  'source',
  'trigger',
  'workspace',
  'concurrency_key',
  'privileged',
  'created_at',
  'requested_by',
  'owners',
  'redrive_of',
  'spec',
  'timeout_ms',
] as const;
const RULE_COLUMNS = [
  'name',
  'when_text',
  'cooldown_ms',
  'approval',
  'approval_ttl_ms',
  'action',
  'added_by',
  'one_tap',
] as const;
const SCHEDULE_COLUMNS = [
  'name',
  'cron',
  'timezone',
  'action',
  'runbook',
  'approval',
  'approval_ttl_ms',
  'added_by',
  'created_at',
] as const;

const WORKFLOW_COLUMNS = ['name', 'definition', 'owners', 'added_by'] as const;
const RUN_COLUMNS = [
  'id',
  'workflow',
  'definition',
  'trigger',
  'origin',
  'event_id',
  'rule',
  'matched_at',
  'schedule',
  'requested_by',
  'owners',
  'resumes',
  'created_at',
] as const;

type JobOrder = Pick<JobRow, (typeof JOB_COLUMNS)[number] | 'rerun_of' | 'node'>;
type RuleOrder = Pick<RuleRow, (typeof RULE_COLUMNS)[number]>;
type ScheduleOrder = Pick<ScheduleRow, (typeof SCHEDULE_COLUMNS)[number]>;
type WorkflowOrder = Pick<WorkflowRow, (typeof WORKFLOW_COLUMNS)[number]>;
type RunOrder = Pick<WorkflowRunRow, (typeof RUN_COLUMNS)[number]>;

const UNTAGGED: OrderTag = { order_tag: null, order_key_id: null };

export function jobTag(ring: Keyring, row: JobOrder): OrderTag {
  return needsTag(row.privileged === 1, row.spec) ? tagOf(ring, jobText(row)) : UNTAGGED;
}

/** The tags of jobs of earlier builds do not cover these columns, which were never set. New ones come last. */
const LATER_COLUMNS = ['rerun_of', 'node'] as const;

/** With the later columns up to the last that is set: to leave out one before it would give two orders one text. */
function jobText(row: JobOrder): string {
  const count = LATER_COLUMNS.findLastIndex((column) => row[column] !== null) + 1;
  return textOf('job', row, [...JOB_COLUMNS, ...LATER_COLUMNS.slice(0, count)]);
}

/** Throws forbidden, with a message for the job's output, for an order that needs a tag and does not have it. */
export function checkJobTag(ring: Keyring, row: JobOrder & OrderTag): void {
  if (needsTag(row.privileged === 1, row.spec)) check(ring, row, jobText(row), `job ${row.id}`);
}

/** Whether `checkJobTag` would pass. */
export function hasJobTag(ring: Keyring, row: JobOrder & OrderTag): boolean {
  try {
    checkJobTag(ring, row);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

export function ruleTag(ring: Keyring, row: RuleOrder): OrderTag {
  return needsTag(false, row.action) ? tagOf(ring, textOf('rule', row, RULE_COLUMNS)) : UNTAGGED;
}

/** Throws forbidden. */
export function checkRuleTag(ring: Keyring, row: RuleOrder & OrderTag): void {
  if (needsTag(false, row.action)) check(ring, row, textOf('rule', row, RULE_COLUMNS), `rule ${row.name}`);
}

export function scheduleTag(ring: Keyring, row: ScheduleOrder): OrderTag {
  return needsTag(false, row.action) ? tagOf(ring, textOf('schedule', row, SCHEDULE_COLUMNS)) : UNTAGGED;
}

/** Throws forbidden. */
export function checkScheduleTag(ring: Keyring, row: ScheduleOrder & OrderTag): void {
  if (needsTag(false, row.action)) check(ring, row, textOf('schedule', row, SCHEDULE_COLUMNS), `schedule ${row.name}`);
}

export function workflowTag(ring: Keyring, row: WorkflowOrder): OrderTag {
  return workflowNeedsTag(row.definition) ? tagOf(ring, textOf('workflow', row, WORKFLOW_COLUMNS)) : UNTAGGED;
}

/** Throws forbidden. */
export function checkWorkflowTag(ring: Keyring, row: WorkflowOrder & OrderTag): void {
  if (workflowNeedsTag(row.definition))
    check(ring, row, textOf('workflow', row, WORKFLOW_COLUMNS), `workflow ${row.name}`);
}

export function runTag(ring: Keyring, row: RunOrder): OrderTag {
  return workflowNeedsTag(row.definition) ? tagOf(ring, textOf('run', row, RUN_COLUMNS)) : UNTAGGED;
}

/** Throws forbidden. */
export function checkRunTag(ring: Keyring, row: RunOrder & OrderTag): void {
  if (workflowNeedsTag(row.definition)) check(ring, row, textOf('run', row, RUN_COLUMNS), `workflow run ${row.id}`);
}

/** States of jobs that may run later: as they are, or by a redrive. */
const MAY_RUN = ['awaiting_approval', 'queued', 'running', 'interrupted'] as const;

/** Tags the privileged jobs that an earlier build left without one. Answers how many. */
export async function tagWaitingJobs(tx: Tx): Promise<number> {
  const rows = await tx.db
    .selectFrom('jobs')
    .selectAll()
    .where('privileged', '=', 1)
    .where('state', 'in', MAY_RUN)
    .where('order_tag', 'is', null)
    .execute();
  for (const row of rows) await tx.db.updateTable('jobs').set(jobTag(tx.ring, row)).where('id', '=', row.id).execute();
  return rows.length;
}

/** JSON of a list: no two orders have the same text. */
function textOf<R>(what: string, row: R, columns: readonly (keyof R)[]): string {
  return JSON.stringify([what, ...columns.map((column) => row[column])]);
}

function tagOf(ring: Keyring, text: string): OrderTag {
  return { order_tag: ring.mac('order', text), order_key_id: ring.activeId };
}

function check(ring: Keyring, { order_tag: tag, order_key_id: keyId }: OrderTag, text: string, what: string): void {
  if (tag === null || keyId === null)
    throw refused(what, 'has no tag, so that it was not ordered on this machine by this build');
  const expected = ring.macBy(keyId, 'order', text);
  if (expected === null) throw refused(what, `is tagged with key ${keyId}, which is not in the seal key file`);
  const [given, right] = [Buffer.from(tag), Buffer.from(expected)];
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw refused(what, 'was changed after it was ordered');
}

function refused(what: string, why: string): Failure {
  return new Failure('forbidden', `Integrity: the privileged order of ${what} ${why}. Nothing was run.`);
}
