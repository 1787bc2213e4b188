import { hasMoved } from '../../domain/workspaces/plan.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { ApprovalRow, Db, WorkspaceRow } from '../../store/schema/schema.ts';
import { type ArtifactFacts, findArtifact } from '../../store/workspaces/artifacts.ts';
import { findWorkspace } from '../../store/workspaces/workspaces.ts';
import type { ApprovalCheck, StaleBlock } from '../queue-rules.ts';

/** The one look at a plan before a decision about it. */
export async function checkPlan(db: Db, approval: ApprovalRow): Promise<ApprovalCheck> {
  const { id, plan_artifact_id: artifactId, plan_digest: digest, plan_serial: serial } = approval;
  const artifact = artifactId === null ? undefined : await findArtifact(db, artifactId);
  const stale = await staleBlock(db, approval, artifact);
  if (stale !== null) {
    const why = `The state moved from serial ${stale.plan_serial} to ${stale.current_serial} after this plan was made.`;
    return { is: 'moved', stale, why };
  }
  if (artifactId === null || artifact?.digest === digest) return { is: 'good' };
  return {
    is: 'another',
    stale: { plan_serial: serial ?? 0, current_serial: serial ?? 0 },
    why: `The plan is not the one that ${id} is about.`,
  };
}

/**
 * The current state and what changed it, if it changed after the plan was made; null while the plan is current. The
 * cause is left out if it was outside the service.
 */
export function staleFrom(
  plan: { readonly serial: number; readonly lineage: string | null },
  workspace: WorkspaceRow,
): StaleBlock | null {
  if (workspace.serial === null || !hasMoved(plan, workspace)) return null;
  const { moved_by_job: byJob, moved_via: via, moved_at: at } = workspace;
  const mover =
    byJob === null
      ? {}
      : {
          moved_by_job: byJob,
          ...(via === null ? {} : { moved_via: via }),
          ...(at === null ? {} : { moved_at: rfc3339(at) }),
        };
  return { plan_serial: plan.serial, current_serial: workspace.serial, ...mover };
}

async function staleBlock(
  db: Db,
  { workspace: name, plan_serial: serial }: ApprovalRow,
  artifact: ArtifactFacts | undefined,
): Promise<StaleBlock | null> {
  if (name === null || serial === null) return null;
  const workspace = await findWorkspace(db, name);
  return workspace === undefined ? null : staleFrom({ serial, lineage: artifact?.lineage ?? null }, workspace);
}
