import type { Verdict } from './plan.ts';
import type { ChangingKind } from './workspace.ts';

/** What an asked apply or destroy of a workspace meets: every fact that the decision depends on, and no other. */
export interface ApplyFacts {
  readonly kind: ChangingKind;
  /** The saved plan that is asked for; null for a fresh apply and for a destroy. */
  readonly plan: SavedPlanFacts | null;
  /** The workspace refuses a fresh apply. */
  readonly requireSavedPlan: boolean;
  /** The workspace refuses a destroy. */
  readonly protectDestroy: boolean;
  /** The id of another apply or destroy of the workspace that is queued or running. */
  readonly holder: string | null;
}

export interface SavedPlanFacts {
  /** The artifact's id. */
  readonly id: string;
  /** The job that carried the plan out, or that is queued to. */
  readonly consumedBy: string | null;
  /** What policy said when the plan was made; null when nothing is recorded. */
  readonly verdict: Verdict | null;
  readonly verdictReason: string | null;
  /** The workspace moved past the serial that the plan was made from. */
  readonly stale: boolean;
  readonly pendingApprovalId: string | null;
}

/** The decision. A refusal is a Failure of that code; the caller adds the members of the code (`error.stale`). */
export type ApplyDecision =
  | {
      readonly move: 'queue';
      /** Neither a person nor a policy reviewed it: the ledger records that. */ readonly ungated: boolean;
    }
  | { readonly move: 'ask' }
  | {
      readonly move: 'refuse';
      readonly code: 'conflict' | 'stale_plan' | 'concurrency_held';
      readonly message: string;
    };

/** The table of moves of the contract, as one pure function. */
export function decideApply(facts: ApplyFacts): ApplyDecision {
  if (facts.kind === 'destroy') {
    if (!facts.protectDestroy) return { move: 'queue', ungated: true };
    return refuse('conflict', 'This workspace is protected from destroy runs. Turn off protect_destroy first.');
  }
  if (facts.plan !== null) return decideSaved(facts.plan, facts.holder);
  // A fresh apply makes its plan when it runs, so it can wait in the queue behind any holder.
  if (!facts.requireSavedPlan) return { move: 'queue', ungated: true };
  return refuse(
    'conflict',
    'This workspace applies saved plans only (require_saved_plan). Make a plan, read it, and apply it by its id ' +
      '(art_…).',
  );
}

/** What a run that is about to start was asked for, beside the checked rows of its workspace and of its plan. */
interface RunFacts extends Pick<ApplyFacts, 'kind' | 'requireSavedPlan' | 'protectDestroy'> {
  readonly plan: Pick<SavedPlanFacts, 'id' | 'verdict' | 'verdictReason'> | null;
  /** Whether the job was queued only after a yes. */
  readonly wasAsked: boolean;
}

/**
 * The same table at the run: a row that was another one at the moment of the request has decided nothing. Answers why
 * it must not start; null for one that may.
 */
export function runObstacle({ plan, wasAsked, ...facts }: RunFacts): string | null {
  // Whether it was used or is stale is found out when it is opened.
  const unused = { consumedBy: null, stale: false, pendingApprovalId: null };
  const decision = decideApply({ ...facts, plan: plan === null ? null : { ...plan, ...unused }, holder: null });
  if (decision.move === 'refuse') return decision.message;
  if (decision.move === 'queue' || wasAsked) return null;
  return 'Integrity: the policy of the workspace asks for an approval of this plan, and the job has none.';
}

/** Permanent refusals come first, so that a caller who follows a message does not meet another that was known. */
function decideSaved(plan: SavedPlanFacts, holder: string | null): ApplyDecision {
  const { id, consumedBy, verdict, stale, pendingApprovalId } = plan;
  if (consumedBy !== null)
    return refuse('conflict', `A plan runs once, and ${consumedBy} has used ${id}. Make a new plan.`);
  if (verdict === null)
    return refuse(
      'conflict',
      `No policy verdict is recorded for the plan ${id}, so it cannot be applied. Make a new plan.`,
    );
  if (stale) return refuse('stale_plan', `The workspace moved on after the plan ${id} was made. Make a new plan.`);
  if (verdict === 'deny')
    return refuse(
      'conflict',
      `The policy of the workspace denies the plan ${id}: ${plan.verdictReason ?? 'no reason is recorded'}.`,
    );
  if (pendingApprovalId !== null)
    return refuse('conflict', `The plan ${id} already waits for the approval ${pendingApprovalId}.`);
  // If it waited, the holder could change the state and make the plan stale.
  if (holder !== null)
    return refuse('concurrency_held', `A saved plan cannot wait, and ${holder} holds the workspace.`);
  return verdict === 'clean' ? { move: 'queue', ungated: false } : { move: 'ask' };
}

function refuse(code: 'conflict' | 'stale_plan' | 'concurrency_held', message: string): ApplyDecision {
  return { move: 'refuse', code, message };
}
