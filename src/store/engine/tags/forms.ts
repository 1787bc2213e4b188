/** What the tag of a row covers, by table: a row here is all that another tagged table needs. */
import { leavesSandbox, workflowLeavesSandbox } from '../../../domain/jobs/order.ts';
import type {
  ApprovalRow,
  InventoryRow,
  JobRow,
  RuleRow,
  ScheduleRow,
  SourceRow,
  WorkflowRow,
  WorkflowRunRow,
  WorkspaceRow,
} from '../../schema/schema.ts';

/** The columns of a tag. Null in rows of earlier builds. */
export interface OrderTag {
  readonly order_tag: string | null;
  readonly order_key_id: string | null;
}

interface Rows {
  jobs: JobRow;
  approvals: ApprovalRow;
  rules: RuleRow;
  schedules: ScheduleRow;
  workflows: WorkflowRow;
  workflow_runs: WorkflowRunRow;
  workspaces: WorkspaceRow;
  sources: SourceRow;
  inventories: InventoryRow;
}

interface Form<R, C extends keyof R> {
  /** Begins the text. */
  readonly what: string;
  /** In messages; default: `what`. */
  readonly called?: string;
  readonly key: C & ('id' | 'name');
  /** All that makes the order: not what changes while it exists, such as the state of a job. */
  readonly columns: readonly C[];
  /** Optional ones, with those up to the last that is set: to leave out one before it would give two rows one text. */
  readonly later?: readonly C[];
  /** What earlier builds covered in the rows that they tagged, where it was less. */
  readonly earlier?: readonly C[];
  /** Whether an earlier build tagged such a row. Absent: it tagged none of the table. */
  readonly hadTag?: (row: Pick<R, C>) => boolean;
}

const form =
  <R>() =>
  <const C extends keyof R>(of: Form<R, C>): Form<R, C> =>
    of;

const JOB = form<JobRow>()({
  what: 'job',
  key: 'id',
  columns: [
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
  ],
  later: ['rerun_of', 'node', 'plan_artifact_id'],
  hadTag: (row) => leavesSandbox(row.privileged === 1, row.spec),
});

const APPROVAL = form<ApprovalRow>()({
  what: 'approval',
  key: 'id',
  // The decision too: a job that needed one is claimed only with a yes that was given here.
  columns: [
    'id',
    'job_id',
    'kind',
    'state',
    'policy',
    'workspace',
    'runbook',
    'plan_artifact_id',
    'plan_digest',
    'plan_serial',
    'requested_by',
    'owners',
    'origin',
    'alert',
    'rule',
    'matched_at',
    'schedule',
    'created_at',
    'expires_at',
    'decided_at',
    'decided_by',
    'decided_via',
    'one_tap',
  ],
});

const RULE_EARLIER = [
  'name',
  'when_text',
  'cooldown_ms',
  'approval',
  'approval_ttl_ms',
  'action',
  'added_by',
  'one_tap',
] as const;

const RULE = form<RuleRow>()({
  what: 'rule',
  key: 'name',
  columns: [...RULE_EARLIER, 'owners', 'bounded_values'],
  earlier: RULE_EARLIER,
  hadTag: (row) => leavesSandbox(false, row.action),
});

const SCHEDULE_EARLIER = [
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

const SCHEDULE = form<ScheduleRow>()({
  what: 'schedule',
  key: 'name',
  columns: [...SCHEDULE_EARLIER, 'owners'],
  earlier: SCHEDULE_EARLIER,
  hadTag: (row) => leavesSandbox(false, row.action),
});

const WORKFLOW = form<WorkflowRow>()({
  what: 'workflow',
  key: 'name',
  columns: ['name', 'definition', 'owners', 'added_by'],
  hadTag: (row) => workflowLeavesSandbox(row.definition),
});

const WORKFLOW_RUN = form<WorkflowRunRow>()({
  what: 'run',
  called: 'workflow run',
  key: 'id',
  columns: [
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
  ],
  hadTag: (row) => workflowLeavesSandbox(row.definition),
});

const WORKSPACE = form<WorkspaceRow>()({
  what: 'workspace',
  key: 'name',
  columns: [
    'name',
    'source',
    'path',
    'approve_when',
    'deny_when',
    'require_saved_plan',
    'protect_destroy',
    'inputs',
    'created_at',
    'dir_kept',
  ],
});

const SOURCE = form<SourceRow>()({
  what: 'source',
  key: 'name',
  columns: ['name', 'kind', 'location', 'ref', 'commit_id', 'plugins', 'created_at', 'dir_kept'],
});

const INVENTORY = form<InventoryRow>()({
  what: 'inventory',
  key: 'name',
  columns: ['name', 'model', 'digest', 'ssh_key', 'created_at'],
});

const FORMS = {
  jobs: JOB,
  approvals: APPROVAL,
  rules: RULE,
  schedules: SCHEDULE,
  workflows: WORKFLOW,
  workflow_runs: WORKFLOW_RUN,
  workspaces: WORKSPACE,
  sources: SOURCE,
  inventories: INVENTORY,
} as const;

export type TaggedTable = keyof typeof FORMS;
export const TAGGED_TABLES = Object.keys(FORMS) as TaggedTable[];

/** The columns that the tag of a table covers. */
export type Covered<T extends TaggedTable> = Pick<Rows[T], (typeof FORMS)[T]['columns'][number] & keyof Rows[T]>;

// Below, a row is an object that has at least the covered columns of its table: `tags.ts` has the types.

/** The text of a tag, JSON of a list: no two rows have the same. */
export function textOf(table: TaggedTable, row: object): string {
  const { what, columns, later = [] }: AnyForm = FORMS[table];
  const values = row as Values;
  const count = later.findLastIndex((column) => (values[column] ?? null) !== null) + 1;
  return listed(what, values, [...columns, ...later.slice(0, count)]);
}

/** That of an earlier build; null where it had no other. */
export function earlierTextOf(table: TaggedTable, row: object): string | null {
  const { what, earlier }: AnyForm = FORMS[table];
  return earlier === undefined ? null : listed(what, row as Values, earlier);
}

/** Whether an earlier build tagged such a row. */
export function hadTag(table: TaggedTable, row: object): boolean {
  const { hadTag: had }: AnyForm = FORMS[table];
  return had?.(row as never) ?? false;
}

/** As in messages: `job job_01…`. */
export function nameOf(table: TaggedTable, row: object): string {
  const { what, called = what, key }: AnyForm = FORMS[table];
  return `${called} ${String((row as Values)[key])}`;
}

export function keyOf(table: TaggedTable): 'id' | 'name' {
  return FORMS[table].key;
}

type Values = Readonly<Record<string, unknown>>;

interface AnyForm {
  readonly what: string;
  readonly called?: string;
  readonly key: string;
  readonly columns: readonly string[];
  readonly later?: readonly string[];
  readonly earlier?: readonly string[];
  readonly hadTag?: (row: never) => boolean;
}

function listed(what: string, row: Values, columns: readonly string[]): string {
  return JSON.stringify([what, ...columns.map((column) => row[column])]);
}
