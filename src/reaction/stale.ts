import { rfc3339 } from '../lib/clock.ts';
import { findArtifact } from '../store/artifacts.ts';
import type { ApprovalRow, Db } from '../store/schema.ts';
import { findWorkspace } from '../store/workspaces.ts';

/** What a plan is compared by: an approval, or the artifact that somebody wants to ask about. */
export type PlanPosition = Pick<ApprovalRow, 'workspace' | 'plan_artifact_id' | 'plan_serial'>;

/** The `stale` member of approvals and of the failure stale_plan; `moved_at` in RFC 3339. */
export interface StaleBlock {
  readonly plan_serial: number;
  readonly current_serial: number;
  readonly moved_by_job?: string | undefined;
  readonly moved_via?: string | undefined;
  readonly moved_at?: string | undefined;
}

/**
 * Where the state is and who moved it there, when it moved after the plan was made; null while the plan holds. Also
 * another lineage is a move: it is another state, whatever its serial says. Who moved it is left out when that was
 * somebody outside of the service.
 */
export async function staleBlock(db: Db, plan: PlanPosition): Promise<StaleBlock | null> {
  if (plan.workspace === null || plan.plan_serial === null) return null;
  const workspace = await findWorkspace(db, plan.workspace);
  if (workspace === undefined || workspace.serial === null) return null;
  if (workspace.serial === plan.plan_serial) {
    const artifact = plan.plan_artifact_id === null ? undefined : await findArtifact(db, plan.plan_artifact_id);
    if (artifact === undefined || artifact.lineage === workspace.lineage) return null;
  }
  const { moved_by_job: byJob, moved_via: via, moved_at: at } = workspace;
  const mover = byJob === null ? {} : { moved_by_job: byJob, ...(via === null ? {} : { moved_via: via }), ...(at === null ? {} : { moved_at: rfc3339(at) }) };
  return { plan_serial: plan.plan_serial, current_serial: workspace.serial, ...mover };
}
