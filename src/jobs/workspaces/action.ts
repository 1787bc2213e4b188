import { Failure } from '../../domain/failure.ts';
import type { EveryWorkspaceAction, WorkspaceAction } from '../../domain/workspaces/action.ts';
import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import { getWorkspace, listWorkspaceNames } from '../../store/workspaces/workspaces.ts';
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

/** Drift checks of one write, so that no other writer waits for long. */
const DRIFT_BATCH = 100;

/** A drift check of every workspace that there is then; its job is that of the first one by name. */
export const driftOfAll: ActionRow<EveryWorkspaceAction> = {
  runbook: () => 'drift:*',
  requireTargets: () => Promise.resolve(),
  async queue(...step) {
    const { first, stoppedAt } = await queueDrift(null, ...step);
    if (first === null) throw new Failure('not_found', 'There is no workspace to check for drift.');
    return { ...first, stoppedAt };
  },
  async queueRest(tx, deps, asker, order, gate) {
    return (await queueDrift(order.after, tx, deps, asker, order, gate)).stoppedAt;
  },
};

/** Those of the next workspaces behind `after`. */
async function queueDrift(
  after: string | null,
  ...[tx, deps, asker, { timeoutMs }, gate]: Parameters<ActionRow<EveryWorkspaceAction>['queue']>
): Promise<{ readonly first: Queued | null; readonly stoppedAt: string | null }> {
  let first: Queued | null = null;
  const names = await listWorkspaceNames(tx.db, after, DRIFT_BATCH);
  for (const workspace of names) {
    const request = { kind: 'drift', workspace, plan: null, runSecrets: {}, timeoutMs } as const;
    const queued = await queueWorkspaceRun(tx, deps, asker, request, gate).catch(skipRemoved);
    first ??= queued;
  }
  return { first, stoppedAt: names.length < DRIFT_BATCH ? null : (names.at(-1) ?? null) };
}

/** Another daemon may have removed it since it was listed. Nothing is written before that is known. */
function skipRemoved(error: unknown): null {
  if (error instanceof Failure && error.code === 'not_found') return null;
  throw error;
}
