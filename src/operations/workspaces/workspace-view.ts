import { Failure } from '../../domain/failure.ts';
import { inputNames, readInputs } from '../../domain/workspaces/inputs.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Db, WorkspaceRow } from '../../store/schema/schema.ts';
import { findLock, findOpenJob } from '../../store/workspaces/workspaces.ts';
import { localOnly } from '../core/operation.ts';
import { type Reply, reply } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

export const LOCAL_ONLY = localOnly(
  'A workspace and its policy decide what runs, so they are changed on the machine only, like code that runs there.',
);

export function workspaceView(row: WorkspaceRow, lock: string | null): ViewItem<'workspace.list'> {
  return {
    ...row,
    drift_checked_at: row.drift_checked_at === null ? null : rfc3339(row.drift_checked_at),
    locked_by: lock,
  };
}

export async function replyGet(db: Db, row: WorkspaceRow): Promise<Reply> {
  const policy = {
    approve_when: row.approve_when,
    deny_when: row.deny_when,
    require_saved_plan: row.require_saved_plan === 1,
    protect_destroy: row.protect_destroy === 1,
    ...(row.unprotected === 1 ? { unprotected: true as const } : {}),
  };
  return reply('workspace.get', {
    ...workspaceView(row, await findLock(db, row.name)),
    policy,
    inputs: inputNames(readInputs(row.inputs)),
  });
}

/** Throws conflict while a job of the workspace is queued or runs. */
export async function refuseOpenJob(db: Db, name: string): Promise<void> {
  const open = await findOpenJob(db, name);
  if (open !== undefined)
    throw new Failure(
      'conflict',
      `The ${open.kind} job ${open.id} of the workspace ${name} is ${open.state}: wait for it, or cancel it.`,
    );
}
