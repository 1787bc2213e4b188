import { requireDuration } from '../domain/duration.ts';
import { JOB_TIMEOUT_DEFAULT_MS, JOB_TIMEOUT_MAX_MS } from '../domain/jobs/job.ts';
import type { Action } from '../domain/rules/rule.ts';
import type { Tx } from '../store/engine/gate.ts';
import { queueCommand } from './commands/queue.ts';
import type { Asker, Gate, QueueDeps, Queued } from './queue.ts';
import { queueWorkspaceRun } from './workspaces/queue.ts';

/** What a rule or a schedule does, as a job. Throws what the functions of its area throw, and invalid_argument for a time-out. */
export function queueAction(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  action: Exclude<Action, { kind: 'notify' }>,
  gate: Gate | null,
): Promise<Queued> {
  const timeoutMs =
    action.timeout === null
      ? JOB_TIMEOUT_DEFAULT_MS
      : requireDuration('timeout', action.timeout, 1_000, JOB_TIMEOUT_MAX_MS);
  if (action.kind === 'command') {
    const { inventory, limit, command } = action;
    return queueCommand(
      tx,
      deps,
      asker,
      { inventory, limit, command, egressPorts: [], privileged: false, timeoutMs },
      gate,
    );
  }
  const { kind, workspace } = action;
  return queueWorkspaceRun(tx, deps, asker, { kind, workspace, plan: null, runSecrets: {}, timeoutMs }, gate);
}
