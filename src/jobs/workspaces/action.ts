import { Failure } from '../../domain/failure.ts';
import type { EveryWorkspaceAction, WorkspaceAction } from '../../domain/workspaces/action.ts';
import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import { getWorkspace, listWorkspaceNames } from '../../store/workspaces/workspaces.ts';
import type { ActionRow } from '../action-row.ts';
import type { Queued, Queueing } from '../queue.ts';
import { queueWorkspaceRun } from './queue.ts';

export function workspaceAction(kind: WorkspaceKind): ActionRow<WorkspaceAction> {
  const fresh = { plan: null, runSecrets: {} };
  return {
    runbook: ({ workspace }) => WORKSPACE_ROWS[kind].runbook({ workspace, ...fresh }),
    async requireTargets(tx, { workspace }, known) {
      if (known(workspace)) await getWorkspace(tx.db, workspace);
    },
    queue: (queueing, { workspace, timeoutMs }) =>
      queueWorkspaceRun(queueing, { kind, workspace, ...fresh, timeoutMs }),
  };
}

/** Drift checks of one write, so that no other writer waits for long. */
const DRIFT_BATCH = 100;

/** A drift check of every workspace that there is then; its job is that of the first one by name. */
export const driftOfAll: ActionRow<EveryWorkspaceAction> = {
  runbook: () => 'drift:*',
  requireTargets: () => Promise.resolve(),
  async queue(queueing, order) {
    const { first, stoppedAt } = await queueDrift(queueing, order, null);
    if (first === null) throw new Failure('not_found', 'There is no workspace to check for drift.');
    return { ...first, stoppedAt };
  },
  queueRest: async (...rest) => (await queueDrift(...rest)).stoppedAt,
};

/** Those of the next workspaces behind `after`. */
async function queueDrift(
  queueing: Queueing,
  { timeoutMs }: { readonly timeoutMs: number },
  after: string | null,
): Promise<{ readonly first: Queued | null; readonly stoppedAt: string | null }> {
  let first: Queued | null = null;
  const names = await listWorkspaceNames(queueing.tx.db, after, DRIFT_BATCH);
  for (const workspace of names) {
    const request = { kind: 'drift', workspace, plan: null, runSecrets: {}, timeoutMs } as const;
    const queued = await queueWorkspaceRun(queueing, request).catch(skipRemoved);
    first ??= queued;
  }
  return { first, stoppedAt: names.length < DRIFT_BATCH ? null : (names.at(-1) ?? null) };
}

/** Another daemon may have removed it since it was listed. Nothing is written before that is known. */
function skipRemoved(error: unknown): null {
  if (error instanceof Failure && error.code === 'not_found') return null;
  throw error;
}
