import type * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import { type Action, type ActionFields, JOB_ACTION_KINDS, type JobActionKind } from '../../domain/rules/actions.ts';
import { BACKUP_FIELDS, backupInput } from '../backups/action-input.ts';
import { COMMAND_FIELDS, commandInput } from '../commands/action-input.ts';
import { hasReach, REACH_FIELDS } from '../core/reach-input.ts';
import type { ActionInput } from '../core/action-input.ts';
import { PLAYBOOK_FIELDS, playbookInput } from '../playbooks/action-input.ts';
import { WORKFLOW_FIELDS, workflowInput } from '../workflows/action-input.ts';
import { driftOfAllInput, WORKSPACE_FIELDS, workspaceInput } from '../workspaces/action-input.ts';

/** The fields that name what a schedule does. */
export const ACTION_FIELDS = {
  ...WORKSPACE_FIELDS,
  ...WORKFLOW_FIELDS,
  ...BACKUP_FIELDS,
  ...COMMAND_FIELDS,
  ...PLAYBOOK_FIELDS,
  ...REACH_FIELDS,
};

type Input = z.output<z.ZodObject<typeof ACTION_FIELDS>>;

const INPUTS: { readonly [K in JobActionKind]: ActionInput<Input, ActionFields[K]> } = {
  plan: workspaceInput('plan'),
  drift: workspaceInput('drift'),
  drift_all: driftOfAllInput,
  apply: workspaceInput('apply'),
  destroy: workspaceInput('destroy'),
  command: commandInput,
  playbook: playbookInput,
  workflow: workflowInput,
  backup: backupInput,
};

/** Reads exactly one action. Throws invalid_argument. */
export function readAction(input: Input, timeout: string | null): Action<JobActionKind> {
  const named = JOB_ACTION_KINDS.flatMap((kind) => readAs(kind, input));
  const [read] = named;
  if (read === undefined) refuseFields(input, 'no kind');
  if (read === undefined || named.length > 1)
    throw new Failure(
      'invalid_argument',
      `${JOB_ACTION_KINDS.join(', ')}: expected exactly one of them. The words of a command come last, after --.`,
    );
  jobTimeoutMs(timeout);
  const action = read(timeout);
  refuseFields(input, 'another kind', action.kind);
  const { hosts = false } = INPUTS[action.kind];
  if (!hosts && (input.inventory !== undefined || input.limit !== undefined))
    throw new Failure('invalid_argument', 'inventory, limit: allowed only with a command or a playbook.');
  if (!hosts && !input.reveal)
    throw new Failure('invalid_argument', 'reveal: allowed only with a command or a playbook.');
  if (!hosts && hasReach(input))
    throw new Failure(
      'invalid_argument',
      'egress_ports, privileged, writable: allowed only with a command or a playbook.',
    );
  return action;
}

function readAs<K extends JobActionKind>(kind: K, input: Input): ((timeout: string | null) => Action<K>)[] {
  const read = INPUTS[kind].read(input);
  return read === null ? [] : [(timeout) => ({ kind, ...read(timeout) })];
}

/** Throws invalid_argument for the first kind except `kind` whose own fields are in the request. */
function refuseFields(input: Input, instead: 'another kind' | 'no kind', kind: JobActionKind | null = null): void {
  for (const each of JOB_ACTION_KINDS) {
    const refusal = each === kind ? null : INPUTS[each].refusal(input, instead);
    if (refusal !== null) throw new Failure('invalid_argument', refusal);
  }
}
