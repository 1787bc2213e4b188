import type { OrderedChange } from '../domain/configuration/change.ts';
import type { Json } from '../domain/yaml/json.ts';
import type { TagReader } from '../store/engine/tags/tags.ts';
import type { ApprovalRow, ArtifactRow, Db, JobRow } from '../store/schema/schema.ts';

/** The `stale` member of approvals and of the failure stale_plan; `moved_at` in RFC 3339. */
export interface StaleBlock {
  readonly plan_serial: number;
  readonly current_serial: number;
  readonly moved_by_job?: string | undefined;
  readonly moved_via?: string | undefined;
  readonly moved_at?: string | undefined;
}

/** Whether an approval still matches its request; `why` is a sentence. */
export type ApprovalCheck =
  | { readonly is: 'good' }
  /** `moved`: the state has changed. `another`: the plan is not the requested one, or is gone. */
  | { readonly is: 'moved' | 'another'; readonly stale: StaleBlock; readonly why: string }
  /** Something that the request names is not as it was when it was asked for. */
  | { readonly is: 'changed'; readonly why: string }
  /** Its files were not read yet: a moment later it may be good. */
  | { readonly is: 'unread'; readonly why: string };

/** What a saved plan does, in words and counts. */
type PlanCounts = Pick<ArtifactRow, 'summary' | 'destroys' | 'changes' | 'creates'>;

/** What an order itself says; what is left out does not apply to its kind. */
export interface OrderParts {
  readonly inventory?: string;
  /** Null: all hosts. */
  readonly limit?: string | null;
  /** The limit is a value of an event: it must be one host. */
  readonly isOfEvent?: boolean | undefined;
  readonly tags?: readonly string[];
  readonly skipTags?: readonly string[];
  readonly playbook?: string;
  /** The directory of its files: of this machine, or in its source. */
  readonly path?: string | null;
  /** Stored secrets that its run gets: `<project>/<name>`, or `<project>/*` for a whole project. */
  readonly secrets?: readonly string[];
  readonly writable?: readonly string[] | undefined;
  readonly egressPorts?: readonly number[];
  /** Shown only where an author wrote them, and not with `reveal: false`. */
  readonly command?: readonly string[];
  /** The same. */
  readonly extraVars?: Readonly<Record<string, Json>>;
  readonly reveal?: false | undefined;
  /** Of the configuration. */
  readonly changes?: readonly OrderedChange[];
}

/** Rules of a kind for its jobs before and after their run. Each kind has a row in `kinds.ts`. */
export interface QueueRules {
  /** Called by `stillHolds` of `standing.ts`. The start of a run checks its inputs again. */
  stillHolds(db: Db, approval: ApprovalRow): Promise<ApprovalCheck>;
  /** The saved plan that the approval is about. Throws forbidden where somebody has changed its row. */
  checkSubject(on: TagReader, approval: ApprovalRow): Promise<PlanCounts | null>;
  /** Why an ended job is not queued again with the same order; null where nothing is in the way. */
  redriveObstacle(on: TagReader, job: JobRow): Promise<string | null>;
  /** What the order of a job says, for who decides about it and for who looks back. */
  order(db: Db, job: JobRow): Promise<OrderParts>;
  /** Whether a job of this kind that is queued without an approval is marked as ungated in the ledger. */
  readonly isUngated: boolean;
}

/** A kind whose orders name nothing that changes while they wait. */
export const UNCHANGING: QueueRules = {
  stillHolds: () => Promise.resolve({ is: 'good' }),
  checkSubject: () => Promise.resolve(null),
  redriveObstacle: () => Promise.resolve(null),
  order: () => Promise.resolve({}),
  isUngated: false,
};
