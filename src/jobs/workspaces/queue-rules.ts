import { Failure } from '../../domain/failure.ts';
import { readInputs } from '../../domain/workspaces/inputs.ts';
import { isChanging, type WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import type { JobRow, WorkspaceRow } from '../../store/schema/schema.ts';
import { checkTag, type TagReader } from '../../store/engine/tags/tags.ts';
import { strictRefusal } from '../../store/gate/gate.ts';
import { findArtifact } from '../../store/workspaces/artifacts.ts';
import { findWorkspace } from '../../store/workspaces/workspaces.ts';
import type { QueueRules } from '../queue-rules.ts';
import { checkPlan } from './stale.ts';

/** A workspace that refuses such a request refuses the run too (T29). */
const REFUSALS: Readonly<Record<WorkspaceKind, (workspace: WorkspaceRow) => string | null>> = {
  plan: () => null,
  drift: () => null,
  apply: ({ name, require_saved_plan: required }) =>
    required === 1 ? `workspace ${name} requires a saved plan: require_saved_plan` : null,
  destroy: ({ name, protect_destroy: isProtected }) =>
    isProtected === 1 ? `workspace ${name} is protected: protect_destroy` : null,
};

/** The rules of a kind of run of a workspace. */
export function workspaceRules(kind: WorkspaceKind): QueueRules {
  return {
    stillHolds: checkPlan,
    async checkSubject(on, { plan_artifact_id: id }) {
      const plan = id === null ? undefined : await findArtifact(on.db, id);
      if (plan !== undefined) return checkTag(on, 'artifacts', plan);
      if (id === null) return null;
      throw new Failure('forbidden', `The saved plan ${id} is not kept any more. Nothing was run.`);
    },
    async redriveObstacle(on: TagReader, { workspace: name, created_at: askedAt }: JobRow) {
      if (name === null) return null;
      const workspace = await findWorkspace(on.db, name);
      if (workspace === undefined) return `workspace ${name} was removed`;
      // A later workspace of that name is not the requested one.
      if (workspace.created_at > askedAt) return `workspace ${name} was added again after the job was requested`;
      return REFUSALS[kind](workspace) ?? (isChanging(kind) ? strictRefusal(on, workspace) : null);
    },
    async order(db, { workspace: name }) {
      const workspace = name === null ? undefined : await findWorkspace(db, name);
      if (workspace === undefined) return {};
      return { path: workspace.path, secrets: Object.values(readInputs(workspace.inputs).runSecrets) };
    },
    isUngated: isChanging(kind),
  };
}
