import type { WorkspaceAction } from '../../domain/workspaces/action.ts';
import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';
import type { ActionRow } from '../action-row.ts';
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
