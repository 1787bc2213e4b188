import { hasMoved } from '../domain/workspaces/plan.ts';
import { rfc3339 } from '../lib/clock.ts';
import { findArtifact, type ArtifactFacts } from '../store/workspaces/artifacts.ts';
import type { ApprovalRow, Db, WorkspaceRow } from '../store/schema/schema.ts';
import { findWorkspace } from '../store/workspaces/workspaces.ts';

/** The plan that an approval is about. */
export type AskedPlan = Pick<ApprovalRow, 'workspace' | 'plan_artifact_id' | 'plan_digest' | 'plan_serial'>;

/** The `stale` member of approvals and of the failure stale_plan; `moved_at` in RFC 3339. */
export interface StaleBlock {
  readonly plan_serial: number;
  readonly current_serial: number;
  readonly moved_by_job?: string | undefined;
  readonly moved_via?: string | undefined;
  readonly moved_at?: string | undefined;
}

/** Whether what was asked about can still be decided. */
export type PlanCheck =
  /** `artifact` is null where it is about no plan. */
  | { readonly is: 'good'; readonly artifact: ArtifactFacts | null }
  | { readonly is: 'moved'; readonly stale: StaleBlock }
  /** The plan is not the one that was asked about, or is not kept any more. */
  | { readonly is: 'another'; readonly stale: StaleBlock };

/** The one look at a plan before a decision about it. */
export async function staleOf(db: Db, asked: AskedPlan): Promise<PlanCheck> {
  const artifact = await artifactOf(db, asked);
  const stale = await blockOf(db, asked, artifact);
  if (stale !== null) return { is: 'moved', stale };
  if (asked.plan_artifact_id === null) return { is: 'good', artifact: null };
  if (artifact !== undefined && artifact.digest === asked.plan_digest) return { is: 'good', artifact };
  const serial = asked.plan_serial ?? 0;
  return { is: 'another', stale: { plan_serial: serial, current_serial: serial } };
}

/** Where the state is and who moved it there, when it moved after the plan was made; null while the plan holds. */
export async function staleBlock(db: Db, asked: AskedPlan): Promise<StaleBlock | null> {
  return blockOf(db, asked, await artifactOf(db, asked));
}

/** As `staleBlock`, of what was read. Who moved it is left out when that was somebody outside of the service. */
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

function artifactOf(db: Db, { plan_artifact_id: id }: AskedPlan): Promise<ArtifactFacts | undefined> {
  return id === null ? Promise.resolve(undefined) : findArtifact(db, id);
}

async function blockOf(
  db: Db,
  { workspace: name, plan_serial: serial }: AskedPlan,
  artifact: ArtifactFacts | undefined,
): Promise<StaleBlock | null> {
  if (name === null || serial === null) return null;
  const workspace = await findWorkspace(db, name);
  return workspace === undefined ? null : staleFrom({ serial, lineage: artifact?.lineage ?? null }, workspace);
}
