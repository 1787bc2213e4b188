import type { WorkflowAction } from '../../domain/workflows/action.ts';
import { getWorkflow } from '../../store/workflows/workflows.ts';
import type { ActionRow } from '../action-row.ts';
import type { QueueAction } from './advance.ts';
import { startRun } from './start.ts';

/** The action that starts a run; `queueAction` queues the actions of its steps. Its job is that of the first step. */
export function workflowAction(queueAction: QueueAction): ActionRow<WorkflowAction> {
  return {
    runbook: ({ workflow }) => `workflow:${workflow}`,
    async requireTargets(tx, { workflow }, known) {
      if (known(workflow)) await getWorkflow(tx.db, workflow);
    },
    async queue({ deps, ...queueing }, { workflow }) {
      const { approvalTtlMs, claimNow } = deps;
      const own = { approvalTtlMs, queueAction, ...(claimNow === undefined ? {} : { claimNow }) };
      const row = await getWorkflow(queueing.tx.db, workflow);
      return (await startRun({ ...queueing, deps: { ...own, wake: () => deps.wake() } }, row)).first;
    },
  };
}
