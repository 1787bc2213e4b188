import { Failure } from '../../domain/failure.ts';
import type { EveryWorkspaceAction, WorkspaceAction } from '../../domain/workspaces/action.ts';
import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import { getWorkspace, listWorkspaces } from '../../store/workspaces/workspaces.ts';
import type { ActionRow } from '../action-row.ts';
import type { Queued } from '../queue.ts';
import { queueWorkspaceRun } from './queue.ts';

export function workspaceAction(kind: WorkspaceKind): ActionRow<WorkspaceAction> {
  const fresh = { plan: null, runSecrets: {} };
  return {
    runbook: ({ workspace }) => WORKSPACE_ROWS[kind].runbook({ workspace, ...fresh }),
    async requireTargets(tx, { workspace }, known) {
      if (known(workspace)) await getWorkspace(tx.db, workspace);
    },
    queue: (tx, deps, asker, { workspace, timeoutMs }, gate) =>
      queueWorkspaceRun(tx, deps, asker, { kind, workspace, ...fresh, timeoutMs }, gate),
  };
}

/** A drift check of every workspace that there is then; its job is that of the first one by name. */
export const driftOfAll: ActionRow<EveryWorkspaceAction> = {
  runbook: () => 'drift:*',
  requireTargets: () => Promise.resolve(),
  async queue(tx, deps, asker, { timeoutMs }, gate) {
    let first: Queued | null = null;
    for (const { name: workspace } of await listWorkspaces(tx.db)) {
      const request = { kind: 'drift', workspace, plan: null, runSecrets: {}, timeoutMs } as const;
      const queued = await queueWorkspaceRun(tx, deps, asker, request, gate).catch(skipRemoved);
      first ??= queued;
    }
    if (first === null) throw new Failure('not_found', 'There is no workspace to check for drift.');
    return first;
  },
};

/** Another daemon may have removed it since it was listed. Nothing is written before that is known. */
function skipRemoved(error: unknown): null {
  if (error instanceof Failure && error.code === 'not_found') return null;
  throw error;
}
