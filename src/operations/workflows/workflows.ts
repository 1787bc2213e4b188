import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { formatDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { STEP_ACTIONS, type StepAction } from '../../domain/rules/step-actions.ts';
import { readWorkflowFile } from '../../domain/workflows/file.ts';
import { YAML_BYTES_MAX } from '../../domain/yaml/file.ts';
import { requireRuleTargets } from '../../jobs/actions.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import type { Db, WorkflowRow } from '../../store/schema/schema.ts';
import { listRuns, listSteps } from '../../store/workflows/runs.ts';
import {
  deleteWorkflow,
  getWorkflow,
  insertWorkflow,
  listWorkflows,
  replaceWorkflow,
} from '../../store/workflows/workflows.ts';
import * as field from '../core/fields.ts';
import { requireWritable } from '../core/reach-input.ts';
import { localOnly, type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';
import { WORKFLOW_RUN_OPERATIONS } from './workflow-runs.ts';
import { stateOfRun } from './run-view.ts';

const LOCAL_ONLY = localOnly(
  'Workflows start jobs without a request, so they are changed on the machine only, like code that runs there.',
);

async function listedView(db: Db, row: WorkflowRow): Promise<ViewItem<'workflow.list'>> {
  const [last] = await listRuns(db, row.name, 1);
  return {
    ...row,
    steps: fromJson(row.definition).steps.length,
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
    last_run_id: last?.id ?? null,
    last_state: last === undefined ? null : stateOfRun(last, await listSteps(db, last.id)),
    last_started_at: last === undefined ? null : rfc3339(last.created_at),
  };
}

async function getView(db: Db, row: WorkflowRow): Promise<ViewData<'workflow.get'>> {
  const steps = fromJson(row.definition).steps.map((step) => ({
    ...step,
    needs: [...step.needs],
    approval_ttl: step.approvalTtlMs === null ? null : formatDuration(step.approvalTtlMs),
  }));
  return { ...(await listedView(db, row)), steps };
}

const list = readOperation({
  id: 'workflow.list',
  summary: 'List workflows and their last runs',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'workflow list', examples: ['svc workflow list'] },
  answers: ['workflow.list'],
  async run({ store: { db } }) {
    const rows = await listWorkflows(db);
    return reply('workflow.list', await Promise.all(rows.map((row) => listedView(db, row))));
  },
});

const byName = z.strictObject({ name: field.name });

const get = readOperation({
  id: 'workflow.get',
  summary: 'Show one workflow and its steps',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'workflow get', positionals: ['name'], examples: ['svc workflow get patch-and-check'] },
  input: byName,
  answers: ['workflow.get'],
  failures: ['not_found'],
  run: async ({ store: { db } }, { name }) => reply('workflow.get', await getView(db, await getWorkflow(db, name))),
});

const add = writeOperation({
  id: 'workflow.add',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Add a workflow from a file',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workflow add',
    stdin: { field: 'text', what: 'the workflow', cure: '', question: null },
    positionals: ['name'],
    // The command line reads the file and sends its text.
    omit: ['text'],
    examples: [
      'svc workflow add patch-and-check --file patch-and-check.yaml',
      'svc workflow add patch-and-check --file patch-and-check.yaml --replace',
    ],
  },
  input: z.strictObject({
    name: field.name.optional(),
    text: z
      .string({ error: 'expected the text of a workflow file' })
      .refine((text) => Buffer.byteLength(text) <= YAML_BYTES_MAX, {
        error: `expected at most ${YAML_BYTES_MAX} bytes`,
      }),
    replace: z
      .boolean()
      .default(false)
      .describe('Replace the workflow of this name, if any; its runs continue as they are'),
  }),
  answers: ['workflow.get'],
  failures: ['duplicate', 'not_found'],
  async prepare({ services }, { name: given, text }) {
    const { name: written, steps } = await readWorkflowFile(text, STEP_ACTIONS);
    requireWritable(services, ...steps.map(({ action }) => action));
    if (given !== undefined && written !== null && given !== written) {
      throw new Failure('invalid_argument', `name: the workflow is called ${given} here and ${written} in the file.`);
    }
    const name = given ?? written;
    if (name === null) throw new Failure('invalid_argument', 'name: this field is required, here or in the file.');
    return { name, steps };
  },
  async run({ tx, caller }, { replace }, { name, steps }) {
    for (const step of steps) await requireTargetsOf(tx, step);
    const definition = toJson({ steps });
    const added = { name, definition, owners: toJson([caller.owner]), added_by: caller.name };
    const row = (replace ? await replaceWorkflow(tx, added) : undefined) ?? (await insertWorkflow(tx, added));
    return written(reply('workflow.get', await getView(tx.db, row)), name, { steps: steps.length, replace });
  },
});

/** Throws as the action does, with the name of the step. */
async function requireTargetsOf(
  tx: Parameters<typeof requireRuleTargets>[0],
  { name, action }: { readonly name: string; readonly action: StepAction },
): Promise<void> {
  try {
    await requireRuleTargets(tx, action);
  } catch (error) {
    if (error instanceof Failure && error.code !== 'unavailable')
      throw new Failure(error.code, `steps.${name}: ${error.message}`);
    throw error;
  }
}

const remove = writeOperation({
  id: 'workflow.remove',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Remove a workflow; its runs continue and remain',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workflow remove',
    removes: true,
    positionals: ['name'],
    examples: ['svc workflow remove patch-and-check'],
  },
  input: byName,
  answers: ['workflow.get'],
  failures: ['not_found'],
  async run({ tx }, { name }) {
    const view = await getView(tx.db, await getWorkflow(tx.db, name));
    await deleteWorkflow(tx, name);
    return written(reply('workflow.get', view), name);
  },
});

export const WORKFLOW_OPERATIONS: readonly Operation[] = [list, get, add, remove, ...WORKFLOW_RUN_OPERATIONS];
