import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { reachOf } from '../../domain/actions/reach.ts';
import { Failure } from '../../domain/failure.ts';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import { targetsDetail } from '../../jobs/inventories/targets.ts';
import { queuePlaybook } from '../../jobs/playbooks/queue.ts';
import * as field from '../core/fields.ts';
import { MACHINE_ONLY, REACH_FIELDS, reachDetail, reachIn, requireWritable } from '../core/reach-input.ts';
import { type Context, writeOperation } from '../core/operation.ts';
import { queueingOf, writtenJob } from '../jobs/queued.ts';
import { runSecretsField } from '../secrets/run-secrets.ts';
import { checkedSource } from '../sources/checked-source.ts';
import { realDirectory } from '../sources/real-directory.ts';
import { refuseHooks } from '../sources/refuse-hooks.ts';
import { playbookField, RUN_FIELDS } from './fields.ts';
import { withVarsText } from './vars-text.ts';
import { placeOfNamed, placeOfSource } from '../../store/sources/source-place.ts';

const { source, tags, skip_tags, check, diff, extra_vars, vault_project, tolerate_unreachable } = RUN_FIELDS;

const input = z.strictObject({
  playbook: playbookField.describe('Path of the playbook in its source'),
  inventory: field.name.describe('Inventory to run on; localhost is this machine'),
  source,
  dir: z
    .string()
    .min(1, { error: 'expected a directory' })
    .max(4_095, { error: 'expected at most 4095 characters' })
    .refine((text) => !/\p{Cc}/u.test(text), { error: 'a control character is not allowed' })
    .optional()
    .describe('Directory on this machine with the playbook, instead of a source'),
  limit: field.text(1_000).optional().describe('Only these hosts and groups of the inventory'),
  tags,
  skip_tags,
  check,
  diff,
  extra_vars,
  extra_vars_file: field
    .as('FILE', z.string())
    .optional()
    .describe('Variables of the playbook as YAML or JSON; --extra-var comes before them'),
  vault_project,
  run_secrets: runSecretsField,
  tolerate_unreachable,
  timeout: field.timeout,
  parallel: field.flag.describe('Run beside other playbooks on the same inventory'),
  summary: field.summary,
  node: field.node,
  ...REACH_FIELDS,
});

type Input = z.output<typeof input>;

/** Where the playbook is, checked before the write. Throws invalid_argument, not_found and not_implemented. */
async function placeOf(context: Context, given: Input): Promise<Pick<PlaybookSpec, 'source' | 'dir' | 'dirKept'>> {
  const { playbook, source, dir } = given;
  const { services } = context;
  if (source === undefined && dir === undefined) {
    const other = context.caller.via === 'cli' ? ', or a directory of this machine with --dir' : '';
    throw new Failure('invalid_argument', `source: expected the name of a source${other}.`);
  }
  if (source !== undefined && dir !== undefined)
    throw new Failure('invalid_argument', 'dir, source: expected one of the two.');
  if (source !== undefined) {
    const row = await checkedSource(context, source);
    await refuseHooks(context, source);
    const tree = await services.sources.treeOf(placeOfSource(row));
    // A tree that is not on this machine is looked at where it runs.
    if (tree !== null && !(await services.sources.hasFile(tree, playbook)))
      throw new Failure('invalid_argument', `playbook: there is no file ${JSON.stringify(playbook)} in ${source}.`);
    return { source, dir: null };
  }
  const directory = await realDirectory(dir ?? '');
  const { dirKept } = await services.sources.fetch(placeOfNamed(directory, null));
  const tree = await services.sources.treeOf(placeOfNamed(directory, dirKept));
  if (tree === null || !(await services.sources.hasFile(tree, playbook)))
    throw new Failure('invalid_argument', `playbook: there is no file ${JSON.stringify(playbook)} in the directory.`);
  return { source: null, dir: directory, dirKept };
}

const run = writeOperation({
  id: 'playbook.run',
  summary: 'Queue a run of an Ansible playbook',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/playbooks/run', omit: ['dir', 'extra_vars_file', ...MACHINE_ONLY] },
  cli: {
    verb: 'playbook run',
    wait: 'job',
    positionals: ['playbook'],
    examples: [
      'svc playbook run site.yml --source ops --inventory prod --wait',
      'svc playbook run site.yml --dir . --inventory localhost --check --diff --wait',
    ],
  },
  mcp: { none: 'A playbook is started by a person or a rule, never by an agent.' },
  input,
  answers: ['job.enqueued', 'approval.pending'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  async prepare(context, given) {
    const reach = reachIn(given);
    requireWritable(context.services, reach);
    const extraVars = await withVarsText(given.extra_vars_file, given.extra_vars);
    return { place: await placeOf(context, given), reach: reachOf(reach), extraVars };
  },
  async run(context, given, { place, reach, extraVars }) {
    const { playbook, inventory, limit = null, check, diff, parallel, node } = given;
    const { egressPorts, privileged, writable } = reach;
    const spec: PlaybookSpec = {
      playbook,
      ...place,
      inventory,
      limit,
      tags: given.tags,
      skipTags: given.skip_tags,
      check,
      diff,
      extraVars,
      tolerateUnreachable: given.tolerate_unreachable,
      egressPorts,
      ...(writable.length > 0 ? { writable } : {}),
      runSecrets: given.run_secrets,
      vaultProject: given.vault_project ?? null,
    };
    const request = { spec, parallel, privileged, timeoutMs: jobTimeoutMs(given.timeout), node };
    const queued = await queuePlaybook(queueingOf(context, given.summary), request);
    const { source } = place;
    const onNode = node === undefined ? {} : { node };
    const hosts = await targetsDetail(context.tx.db, spec);
    const parts = { ...listed('tags', spec.tags), ...listed('skip_tags', spec.skipTags) };
    const what = { playbook, source, inventory, ...hosts, ...parts, check };
    return writtenJob(queued, { ...what, ...onNode, ...reachDetail(reach) });
  },
});

function listed(name: string, words: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return words.length === 0 ? {} : { [name]: words };
}

export const PLAYBOOK_OPERATIONS = [run];
