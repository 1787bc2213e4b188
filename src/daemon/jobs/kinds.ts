import { KINDS } from '../../domain/jobs/kinds.ts';
import { commandRunner } from '../../runners/command/command.ts';
import { terraformRunner } from '../../runners/terraform/terraform.ts';
import { commandSupport } from '../commands/run-support.ts';
import { changingSupport, workspaceSupport } from '../workspaces/run-support.ts';
import { NOT_BUILT, runKind, type RunKinds } from './run-support.ts';

/** How the daemon runs each kind of job. */
export const RUN_SUPPORT: RunKinds = {
  plan: runKind(KINDS.plan, terraformRunner, workspaceSupport),
  apply: runKind(KINDS.apply, terraformRunner, changingSupport),
  destroy: runKind(KINDS.destroy, terraformRunner, changingSupport),
  drift: runKind(KINDS.drift, terraformRunner, workspaceSupport),
  command: runKind(KINDS.command, commandRunner, commandSupport),
  playbook: NOT_BUILT,
  backup: NOT_BUILT,
  vendor: NOT_BUILT,
};
