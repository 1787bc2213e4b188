import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import type {
  StateCheckpoint,
  WorkspaceKind,
  WorkspaceMaterials,
  WorkspaceResult,
  WorkspaceSpec,
} from '../../domain/workspaces/workspace.ts';
import { terraformRunner } from '../../runners/terraform/terraform.ts';
import { fenceOf } from '../../store/jobs/claims.ts';
import { runKind, type RunKind, type RunSupport } from '../jobs/run-support.ts';
import { recordChange } from './movers.ts';
import { gatherInputs } from './run-inputs.ts';
import { readyResult } from './run-results.ts';
import { findState, keepBrought, keepFound, keepOfRun, setAside } from './states.ts';

type Support = RunSupport<WorkspaceSpec, WorkspaceMaterials, StateCheckpoint, WorkspaceResult>;

const KEEP: Readonly<Record<StateCheckpoint['as'], typeof keepOfRun>> = {
  made: keepOfRun,
  aside: setAside,
  brought: keepBrought,
};

const support: Support = {
  async prepare(deps, job, spec, signal) {
    const inputs = await gatherInputs(deps, job, spec, signal);
    const { ring } = inputs;
    return {
      ...inputs,
      checkpoint: (tx, { state, as }) => KEEP[as](tx, fenceOf(job), job, { state, ring }),
      finish: (outcome) => readyResult(job, inputs, outcome),
    };
  },
  async recover(deps, job) {
    const found = await findState(deps, job);
    return found === null ? null : (tx) => keepFound(tx, job, found);
  },
};

/** For the kinds that change the infrastructure: an interrupted run counts as the last apply of its workspace. */
const changing: Support = {
  ...support,
  async interrupted(tx, job) {
    if (job.workspace !== null) await recordChange(tx, job.workspace, job);
  },
};

/** How the daemon runs the kinds that work on a workspace. */
export const WORKSPACE_RUNS: Readonly<Record<WorkspaceKind, RunKind>> = {
  plan: runKind(WORKSPACE_ROWS.plan, terraformRunner, support),
  apply: runKind(WORKSPACE_ROWS.apply, terraformRunner, changing),
  destroy: runKind(WORKSPACE_ROWS.destroy, terraformRunner, changing),
  drift: runKind(WORKSPACE_ROWS.drift, terraformRunner, support),
};
