import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { lintPolicy } from '../../domain/workspaces/policy.ts';
import { workspaceKey } from '../../domain/workspaces/workspace.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { toJson } from '../../lib/json.ts';
import type { Db } from '../../store/schema/schema.ts';
import { holdSource } from '../../store/sources/sources.ts';
import { listStates } from '../../store/workspaces/states.ts';
import {
  deleteWorkspace,
  findLock,
  getWorkspace,
  insertWorkspace,
  listWorkspaces,
  lockedBy,
  type NewWorkspace,
  updateWorkspace,
} from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import { givenInputs, INPUTS, inputsColumn } from './workspace-inputs.ts';
import { newPlace, PLACE, placeOf } from './workspace-place.ts';
import { LOCAL_ONLY, refuseOpenJob, replyGet, workspaceView } from './workspace-view.ts';

const list = readOperation({
  id: 'workspace.list',
  summary: 'List workspaces with their state serial and lock holder',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/workspaces' },
  cli: { verb: 'workspace list', examples: ['svc workspace list'] },
  mcp: { tool: 'workspace_list' },
  answers: ['workspace.list'],
  async run({ store }) {
    const [rows, locks] = await Promise.all([listWorkspaces(store.db), lockedBy(store.db)]);
    return reply(
      'workspace.list',
      rows.map((row) => workspaceView(row, locks.get(row.name) ?? null)),
    );
  },
});

const get = readOperation({
  id: 'workspace.get',
  summary: 'Show one workspace and its policy',
  scopes: READERS,
  http: { none: 'The list has every workspace; its policy is read where it is set.' },
  cli: { verb: 'workspace get', positionals: ['name'], examples: ['svc workspace get net'] },
  mcp: { none: 'workspace_list shows every workspace.' },
  input: z.strictObject({ name: field.name }),
  answers: ['workspace.get'],
  failures: ['not_found'],
  run: async ({ store }, { name }) => replyGet(store.db, await getWorkspace(store.db, name)),
});

const lastDrift = readOperation({
  id: 'workspace.last_drift',
  summary: 'Show the result of the last drift check of a workspace',
  scopes: READERS,
  http: { none: 'The list has the result of every workspace.' },
  cli: { none: 'svc workspace list shows the result of every workspace.' },
  mcp: { tool: 'workspace_drift' },
  input: z.strictObject({ name: field.name.describe('Workspace') }),
  answers: ['workspace.list'],
  failures: ['not_found'],
  async run({ store }, { name }) {
    const row = await getWorkspace(store.db, name);
    return reply('workspace.list', [workspaceView(row, await findLock(store.db, name))]);
  },
});

const POLICY = {
  approve_when: field.expression
    .optional()
    .describe('CEL; true requires approval. Default: plans that destroy or replace. Empty clears it'),
  deny_when: field.expression.optional().describe('CEL; true refuses the plan. Empty clears it'),
};

/** The columns of the given expressions; an empty one clears. Throws invalid_argument for what is no policy. */
async function policyOf(input: {
  approve_when?: string | undefined;
  deny_when?: string | undefined;
}): Promise<Partial<Pick<NewWorkspace, 'approve_when' | 'deny_when'>>> {
  const columns: Partial<Record<'approve_when' | 'deny_when', string | null>> = {};
  for (const name of ['approve_when', 'deny_when'] as const) {
    const text = input[name];
    if (text === undefined) continue;
    if (text !== '') await lintPolicy(name, text);
    columns[name] = text === '' ? null : text;
  }
  return columns;
}

const add = writeOperation({
  id: 'workspace.add',
  causes: { of: 'workspace' },
  summary: 'Register a Terraform root as a workspace',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workspace add',
    positionals: ['name'],
    examples: [
      'svc workspace add net --dir ./net',
      "svc workspace add net --source infra --path roots/net --deny-when 'size(plan.destroys) > 10'",
    ],
  },
  input: z.strictObject({
    name: field.name,
    ...PLACE,
    ...POLICY,
    require_saved_plan: z.boolean().default(false).describe('Refuse an apply without a saved plan'),
    protect_destroy: z.boolean().default(false).describe('Refuse destroy runs'),
    unprotected: field.flag.describe('In a strict service too, allow what these two do not refuse'),
    ...INPUTS,
  }),
  answers: ['workspace.get'],
  failures: ['duplicate', 'not_found'],
  prepare: async (context, input) => ({
    place: await placeOf(context, input),
    policy: await policyOf(input),
    inputs: await givenInputs(input),
  }),
  async run({ tx }, input, { place, policy, inputs }) {
    if (place.source !== null) await holdSource(tx, place.source);
    const row = await insertWorkspace(tx, {
      name: input.name,
      ...place,
      approve_when: null,
      deny_when: null,
      ...policy,
      require_saved_plan: input.require_saved_plan ? 1 : 0,
      protect_destroy: input.protect_destroy ? 1 : 0,
      ...(input.unprotected ? { unprotected: 1 } : {}),
      inputs: await inputsColumn(tx, toJson({}), inputs),
    });
    const { source = null, require_saved_plan, protect_destroy, unprotected } = input;
    const detail = { source, require_saved_plan, protect_destroy, ...(unprotected ? { unprotected } : {}) };
    return written(await replyGet(tx.db, row), row.name, detail);
  },
});

const updateInput = z.strictObject({
  name: field.name,
  ...PLACE,
  ...POLICY,
  require_saved_plan: z.boolean().optional().describe('Refuse an apply without a saved plan'),
  no_require_saved_plan: z.boolean().optional().describe('Allow an apply without a saved plan'),
  protect_destroy: z.boolean().optional().describe('Refuse destroy runs'),
  no_protect_destroy: z.boolean().optional().describe('Allow destroy runs'),
  unprotected: z.boolean().optional().describe('In a strict service too, allow what these two do not refuse'),
  no_unprotected: z.boolean().optional().describe('In a strict service, refuse both'),
  ...INPUTS,
  no_inputs: z.boolean().optional().describe('Forget the variables, files and secrets of every run'),
});

type Update = z.output<typeof updateInput>;

const update = writeOperation({
  id: 'workspace.update',
  causes: { of: 'workspace' },
  summary: 'Update the location or policy of a workspace; the rest is kept',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workspace update',
    positionals: ['name'],
    examples: [
      "svc workspace update net --approve-when 'size(plan.changes) > 0'",
      'svc workspace update net --protect-destroy',
    ],
  },
  input: updateInput,
  answers: ['workspace.get'],
  failures: ['not_found', 'conflict'],
  async prepare(context, input) {
    const now = await getWorkspace(context.store.db, input.name);
    const changes = { ...(await newPlace(context, input, now)), ...(await policyOf(input)), ...switches(input) };
    return { changes, inputs: await givenInputs(input) };
  },
  async run({ tx }, { name, ...given }, { changes, inputs }) {
    // A run queued at the same time uses either the old switches or the new ones, never a mix.
    await tx.dialect.lockKey(tx.db, workspaceKey(name));
    if (typeof changes.source === 'string') await holdSource(tx, changes.source);
    // The files of a run are searched in the folder that the workspace names.
    if (changes.path !== undefined || changes.source !== undefined) await refuseOpenJob(tx.db, name);
    const { inputs: stored } = await getWorkspace(tx.db, name);
    const kept = await inputsColumn(tx, given.no_inputs === true ? toJson({}) : stored, inputs);
    const row = await updateWorkspace(tx, name, { ...changes, ...(kept === stored ? {} : { inputs: kept }) });
    return written(await replyGet(tx.db, row), name, { changed: Object.keys(given) });
  },
});

const SWITCHES = ['require_saved_plan', 'protect_destroy', 'unprotected'] as const;

function switches(input: Update): Partial<Pick<NewWorkspace, (typeof SWITCHES)[number]>> {
  const columns: Partial<Record<(typeof SWITCHES)[number], 0 | 1>> = {};
  for (const name of SWITCHES) {
    const [on, off] = [input[name], input[`no_${name}`]];
    if (on === true && off === true)
      throw new Failure('invalid_argument', `${name}, no_${name}: expected one of the two.`);
    if (on !== undefined) columns[name] = on ? 1 : 0;
    else if (off !== undefined) columns[name] = off ? 0 : 1;
  }
  return columns;
}

const remove = writeOperation({
  id: 'workspace.remove',
  causes: { of: 'workspace' },
  summary: 'Remove a workspace with its saved plans and stored states',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workspace remove',
    removes: true,
    confirm: {
      by: 'name',
      warning: 'This forgets {name}, its plans and its states. With --force also of resources that are still there.',
    },
    positionals: ['name'],
    examples: ['svc workspace remove net', 'svc workspace remove net --force'],
  },
  input: z.strictObject({
    name: field.name,
    force: z.boolean().default(false).describe('Remove even if the state has resources; they keep running, unmanaged'),
  }),
  answers: ['workspace.get'],
  failures: ['not_found', 'conflict'],
  async run({ tx }, { name, force }) {
    await tx.dialect.lockKey(tx.db, workspaceKey(name));
    const row = await getWorkspace(tx.db, name);
    await refuseOpenJob(tx.db, name);
    if (!force) await refuseResources(tx.db, name);
    const removed = await replyGet(tx.db, row);
    await deleteWorkspace(tx, name);
    return written(removed, name, { force });
  },
});

/** A state is the only record of what it holds. */
async function refuseResources(db: Db, name: string): Promise<void> {
  const states = await listStates(db, name);
  const newest = states.find(({ version }) => version > 0);
  if (newest !== undefined && newest.resources > 0) {
    throw new Failure(
      'conflict',
      `The state of the workspace ${name} holds ${newest.resources} resources: ` +
        'destroy them first, or remove it with --force.',
    );
  }
  const aside = states.find(({ version, resources }) => version < 0 && resources > 0);
  if (aside !== undefined) {
    throw new Failure(
      'conflict',
      `A state of the workspace ${name} was set aside and holds ` +
        `${aside.resources} resources: resolve that first, or remove the workspace ` +
        'with --force.',
    );
  }
}

const state = readOperation({
  id: 'workspace.state',
  summary: 'List the stored state versions; negative versions were set aside',
  scopes: READERS,
  http: { none: 'The versions are of use on the machine only; the list of workspaces shows the serial.' },
  cli: { verb: 'workspace state', positionals: ['name'], examples: ['svc workspace state net'] },
  mcp: { none: 'workspace_list shows the serial of each.' },
  input: z.strictObject({ name: field.name }),
  answers: ['workspace.state'],
  failures: ['not_found'],
  async run({ store }, { name }) {
    await getWorkspace(store.db, name);
    const states = await listStates(store.db, name);
    return reply(
      'workspace.state',
      states.map((row) => ({ ...row, created_at: rfc3339(row.created_at) })),
    );
  },
});

export const WORKSPACE_OPERATIONS = [list, get, lastDrift, add, update, remove, state];
