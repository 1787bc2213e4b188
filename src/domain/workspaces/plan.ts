/** What a plan says that it would do. */

export const PLAN_ACTIONS = ['destroy', 'replace', 'update', 'create'] as const;
export type PlanAction = (typeof PLAN_ACTIONS)[number];

/** A resource that the plan changes, without any value. */
export interface PlanEntry {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  readonly action: PlanAction;
}

/** A replacement is listed under `destroys`. No-ops and reads are not listed. */
export interface PlannedChanges {
  readonly destroys: readonly PlanEntry[];
  readonly changes: readonly PlanEntry[];
  readonly creates: readonly PlanEntry[];
}

/** A plan as it is kept: what policy sees, and the view that people see. */
export interface ReadPlan {
  readonly planned: PlannedChanges;
  /** Whether an apply would do anything, changes of outputs included. */
  readonly hasChanges: boolean;
  /** One line, such as "3 to destroy, 0 to replace, 2 to change, 5 to create". */
  readonly summary: string;
  /** The JSON text of the `approval.plan` view, already redacted and in the order of its keys. */
  readonly view: string;
}

/** A position that may not be known, or not in full. */
interface Position<S extends number | null> {
  readonly serial: S;
  readonly lineage: string | null;
}

/**
 * Whether the state changed since the plan was made. Another lineage is another state with any serial; for a plan
 * without a lineage only the serial is compared. False for an unknown state.
 */
export function hasMoved(plan: Position<number>, at: Position<number | null>): boolean {
  if (at.serial === null) return false;
  return at.serial !== plan.serial || (plan.lineage !== null && at.lineage !== plan.lineage);
}

/** What the policy of a workspace says of a plan. */
export const VERDICTS = ['clean', 'require_approval', 'deny'] as const;
export type Verdict = (typeof VERDICTS)[number];
