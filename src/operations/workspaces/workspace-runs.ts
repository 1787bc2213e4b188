import * as z from 'zod';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import { enterWorkspace, queueWorkspaceRun } from '../../jobs/workspaces/queue.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { type Context, writeOperation, type WriteContext } from '../core/operation.ts';
import type { Written } from '../core/reply.ts';
import { queueingOf, ungatedDetail, writtenJob } from '../jobs/queued.ts';
import { requireSecrets } from '../../store/secrets/secrets.ts';
import { runSecretsField } from '../secrets/run-secrets.ts';
import { refuseChangedFiles } from './changed-files.ts';
import { refuseHooks } from '../sources/refuse-hooks.ts';

const RUN = { name: field.name, run_secrets: runSecretsField, timeout: field.timeout };

interface RunInput {
  readonly name: string;
  readonly run_secrets: Readonly<Record<string, string>>;
  readonly timeout?: string | undefined;
  readonly detailed_exitcode?: boolean | undefined;
}

/** Throws not_found, and not_implemented for a source that declares hooks. */
async function refuseHooksOf(context: Context, { name }: RunInput): Promise<void> {
  const { source } = await getWorkspace(context.store.db, name);
  if (source !== null) await refuseHooks(context, source);
}

/** Queues a run in the name of the caller, or asks about it; `plan` is the saved plan that an apply carries out. */
async function queue(
  context: WriteContext,
  kind: WorkspaceKind,
  input: RunInput,
  plan: string | null,
): Promise<Written> {
  const workspace = await enterWorkspace(context.tx, input.name);
  await requireSecrets(context.tx.db, input.run_secrets);
  const queued = await queueWorkspaceRun(queueingOf(context), {
    kind,
    workspace: workspace.name,
    plan,
    runSecrets: input.run_secrets,
    detailedExitcode: input.detailed_exitcode === true,
    timeoutMs: jobTimeoutMs(input.timeout),
  });
  const detail = { workspace: input.name, ...(plan === null ? {} : { plan }), ...ungatedDetail(queued) };
  return writtenJob(queued, detail);
}

const plan = writeOperation({
  id: 'workspace.plan',
  summary: 'Queue a plan; the saved plan can then be applied by its id',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/plan' },
  cli: {
    verb: 'workspace plan',
    wait: 'plan',
    positionals: ['name'],
    examples: ['svc workspace plan net', 'svc workspace plan net --timeout 10m'],
  },
  mcp: { tool: 'workspace_plan', additive: true },
  input: z.strictObject({
    ...RUN,
    detailed_exitcode: z.boolean().default(false).describe('Exit with code 2 if the plan has changes'),
  }),
  answers: ['job.enqueued'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  prepare: refuseHooksOf,
  run: (context, input) => queue(context, 'plan', input, null),
});

const apply = writeOperation({
  id: 'workspace.apply',
  summary: 'Queue an apply of a saved plan or of a new plan',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/apply' },
  cli: {
    verb: 'workspace apply',
    wait: 'job',
    waiting: 'workspace',
    positionals: ['name'],
    examples: ['svc workspace apply net --plan art_01m7yd4zyke00anp2z332d2j5p', 'svc workspace apply net'],
  },
  mcp: { tool: 'workspace_apply' },
  input: z.strictObject({
    ...RUN,
    plan: field.id('art').optional().describe('Saved plan to apply; default a new plan'),
  }),
  answers: ['job.enqueued', 'approval.pending'],
  failures: ['not_found', 'conflict', 'stale_plan', 'concurrency_held', 'not_implemented'],
  async prepare(context, input) {
    await refuseHooksOf(context, input);
    if (input.plan !== undefined) await refuseChangedFiles(context, input.name, input.plan);
  },
  run: (context, input) => queue(context, 'apply', input, input.plan ?? null),
});

const destroy = writeOperation({
  id: 'workspace.destroy',
  summary: 'Queue the destruction of all resources of a workspace',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/destroy' },
  cli: {
    verb: 'workspace destroy',
    wait: 'job',
    // A destroy is never gated: the person at the terminal types the name of the workspace.
    confirm: { by: 'name', warning: 'This destroys everything in {name}, without a second person.' },
    positionals: ['name'],
    examples: ['svc workspace destroy net'],
  },
  mcp: { none: 'A destroy is never gated: an agent that could ask for one needs a person in between.' },
  input: z.strictObject(RUN),
  answers: ['job.enqueued'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  prepare: refuseHooksOf,
  run: (context, input) => queue(context, 'destroy', input, null),
});

const drift = writeOperation({
  id: 'workspace.drift',
  summary: 'Queue a drift check: compare the infrastructure with its state',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/drift' },
  cli: { verb: 'workspace drift', wait: 'job', positionals: ['name'], examples: ['svc workspace drift net'] },
  mcp: { none: 'workspace_drift shows the result of the last check; workspace_plan makes a new plan.' },
  input: z.strictObject(RUN),
  answers: ['job.enqueued'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  prepare: refuseHooksOf,
  run: (context, input) => queue(context, 'drift', input, null),
});

export const WORKSPACE_RUN_OPERATIONS = [plan, apply, destroy, drift];
