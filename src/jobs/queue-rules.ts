import type { ApprovalRow, Db, JobRow } from '../store/schema/schema.ts';

/** The `stale` member of approvals and of the failure stale_plan; `moved_at` in RFC 3339. */
export interface StaleBlock {
  readonly plan_serial: number;
  readonly current_serial: number;
  readonly moved_by_job?: string | undefined;
  readonly moved_via?: string | undefined;
  readonly moved_at?: string | undefined;
}

/** Whether an approval still is about what was asked; `why` is a sentence. */
export type ApprovalCheck =
  | { readonly is: 'good' }
  /** `moved`: the state is not where it was. `another`: the plan is not the one that was asked about, or is gone. */
  | { readonly is: 'moved' | 'another'; readonly stale: StaleBlock; readonly why: string };

/** What a kind of job knows about its jobs before and after their run. Each kind has a row in `kinds.ts`. */
export interface QueueRules {
  /**
   * Before a decision, and for whoever is shown what is to be decided. What a run starts with is checked again when
   * it starts.
   */
  stillHolds(db: Db, approval: ApprovalRow): Promise<ApprovalCheck>;
  /** Whether the job of an ended one may be made again as it was. */
  mayRedrive(db: Db, job: JobRow): Promise<boolean>;
}

/** A kind whose orders name nothing that changes while they wait. */
export const UNCHANGING: QueueRules = {
  stillHolds: () => Promise.resolve({ is: 'good' }),
  mayRedrive: () => Promise.resolve(true),
};
