import type { Db, JobRow, WorkspaceRow } from '../../store/schema/schema.ts';
import { findWorkspace } from '../../store/workspaces/workspaces.ts';
import type { QueueRules } from '../queue-rules.ts';
import { checkPlan } from './stale.ts';

export const READING_RULES: QueueRules = rules(() => false);
export const APPLY_RULES: QueueRules = rules((workspace) => workspace.require_saved_plan === 1);
export const DESTROY_RULES: QueueRules = rules((workspace) => workspace.protect_destroy === 1);

/** A workspace that refuses such a request refuses the run too (T29), and a removed workspace has none. */
function rules(refuses: (workspace: WorkspaceRow) => boolean): QueueRules {
  return {
    stillHolds: checkPlan,
    async mayRedrive(db: Db, { workspace: name, created_at: askedAt }: JobRow) {
      if (name === null) return true;
      const workspace = await findWorkspace(db, name);
      // A later workspace of that name is not the requested one.
      return workspace !== undefined && workspace.created_at <= askedAt && !refuses(workspace);
    },
  };
}
