/** What a person sees of a request before deciding with a link: its plan, and its order. */
import { Failure } from '../../domain/failure.ts';
import { countsOf } from '../../domain/plan-words.ts';
import type { PlanAction } from '../../domain/workspaces/plan.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import { findPlanView } from '../../store/workspaces/artifacts.ts';
import type { ViewData } from '../../views/views.ts';
import type { Runtime } from '../core/invoke.ts';
import { orderOf } from '../jobs/order.ts';
import type { SecretPlace } from '../secrets/hide-secrets.ts';
import { openPlanView } from './plan-view.ts';

/** Counts and addresses of a plan, never a value of an attribute. */
export interface PlanFacts {
  /** Replaced resources too. */
  readonly destroys: number;
  /** In words, each resource once. */
  readonly counts: string;
  /** Null where the plan cannot be opened any more. */
  readonly destroyed: readonly Destroyed[] | null;
}

export interface Destroyed {
  readonly address: string;
  readonly action: PlanAction;
}

/** The order, or a sentence that says why it cannot be shown. */
export async function orderFor(
  runtime: SecretPlace,
  { job_id: jobId }: Pick<ApprovalRow, 'job_id'>,
): Promise<ViewData<'order'> | string> {
  try {
    return await orderOf(runtime, await getJob(runtime.store.db, jobId));
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** Counted in the sealed view, which was sealed with the plan. Its values are dropped here. */
export async function planOf(
  { store, services }: Runtime,
  { plan_artifact_id: id }: ApprovalRow,
): Promise<PlanFacts | null> {
  const kept = id === null ? undefined : await findPlanView(store.db, id);
  if (kept === undefined) return null;
  let json: Buffer;
  try {
    json = await openPlanView(services, kept);
  } catch (error) {
    // The page says so; the doctor says why.
    if (!(error instanceof Failure)) throw error;
    return { destroys: kept.destroys, counts: kept.summary, destroyed: null };
  }
  const planned = JSON.parse(json.toString('utf8')) as Readonly<
    Record<'destroys' | 'changes' | 'creates', readonly Destroyed[]>
  >;
  const destroyed = planned.destroys.map(({ address, action }) => ({ address, action }));
  return { destroys: destroyed.length, counts: countsOf(planned), destroyed };
}
