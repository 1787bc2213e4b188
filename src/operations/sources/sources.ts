import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import type { FetchedTree } from '../../domain/sources/source.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { runApprovalColumns } from '../../store/gate/gate.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import {
  deleteSource,
  findSource,
  insertSource,
  listSources,
  moveSource,
  replaceSource,
  setSourceApproval,
  sourceExists,
} from '../../store/sources/sources.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';
import { runApprovalOf, shown, shownRunApproval, SOURCE_RUNS } from '../gate/run-approval.ts';
import { checkedSource } from './checked-source.ts';
import { realDirectory } from './real-directory.ts';
import { placeOfNew, placeOfSource } from '../../store/sources/source-place.ts';

const LOCAL_ONLY = localOnly('Sources are configured on the machine only, because a source decides what runs.');
/** What file systems take as one path. */
const PATH_CHARACTERS_MAX = 4_095;

/**
 * Without the location: a path tells about the machine, and a URL may hold a forgotten credential.
 */
function sourceView(
  row: Omit<SourceRow, 'order_tag' | 'order_key_id' | 'plugins' | 'dir_kept'>,
): ViewItem<'source.list'> {
  return {
    name: row.name,
    kind: row.kind,
    ref: row.ref,
    commit: row.commit_id,
    synced_at: row.synced_at === null ? null : rfc3339(row.synced_at),
    ...shownRunApproval(row),
  };
}

const list = readOperation({
  id: 'source.list',
  summary: 'List sources',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/sources' },
  cli: { verb: 'source list', examples: ['svc source list'] },
  mcp: { tool: 'source_list' },
  answers: ['source.list'],
  run: async ({ store }) => reply('source.list', (await listSources(store.db)).map(sourceView)),
});

/** What `add` found out before the write. */
interface Added {
  readonly source: Pick<SourceRow, 'name' | 'kind' | 'location' | 'ref'>;
  readonly fetched: FetchedTree;
}

/** Of a source, besides its name. */
export const SOURCE_FIELDS = {
  dir: z
    .string()
    .min(1, { error: 'expected a path' })
    .max(PATH_CHARACTERS_MAX, { error: `expected at most ${PATH_CHARACTERS_MAX} characters` })
    .refine((text) => !/\p{Cc}/u.test(text), { error: 'a control character is not allowed' })
    .optional()
    .describe('Directory on this machine; it is not copied'),
  git: field
    .as('URL', z.string())
    .optional()
    .describe('URL of a repository: https://host/path, ssh://user@host/path or user@host:path'),
  ref: z.string().optional().describe('Branch, tag or commit; without it, the default branch'),
  plugins: field.flag.describe('Let Ansible load the plugins in it, which run on this machine'),
  ...SOURCE_RUNS,
};

const add = writeOperation({
  id: 'source.add',
  causes: { of: 'source' },
  summary: 'Add a directory or Git repository that workspaces read files from',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'source add',
    positionals: ['name'],
    examples: [
      'svc source add ops --git git@git.example.org:ops/infra.git --ref main',
      'svc source add net --dir ./net',
    ],
  },
  input: z.strictObject({
    name: field.name,
    ...SOURCE_FIELDS,
    replace: field.flag.describe('Replace the source of this name, if any; what uses it then uses the new one'),
  }),
  answers: ['source.get'],
  failures: ['conflict', 'duplicate', 'unavailable'],
  async prepare({ store, services }, { name, dir, git, ref, replace, ...given }): Promise<Added> {
    runApprovalOf(given);
    const source = await placeOf(dir, git, ref);
    // A fetch takes its time: a name that is taken is refused before it.
    if (!replace && (await findSource(store.db, name)) !== undefined) throw sourceExists(name);
    return { source: { name, ...source }, fetched: await services.sources.fetch(placeOfNew({ name, ...source })) };
  },
  async run({ tx }, { plugins, replace, ...given }, { source, fetched }) {
    const added = {
      ...source,
      commit_id: fetched.commit,
      synced_at: tx.now,
      created_at: tx.now,
      plugins: plugins ? (1 as const) : (0 as const),
      dir_kept: fetched.dirKept,
      ...runApprovalColumns(runApprovalOf(given)),
    };
    const row = (replace ? await replaceSource(tx, added) : undefined) ?? (await insertSource(tx, added));
    return written(reply('source.get', sourceView(row)), row.name, {
      kind: row.kind,
      plugins,
      ...(replace ? { replace } : {}),
      ...shownRunApproval(row),
    });
  },
});

/** Throws invalid_argument. */
export async function placeOf(
  dir: string | undefined,
  git: string | undefined,
  ref: string | undefined,
): Promise<Pick<SourceRow, 'kind' | 'location' | 'ref'>> {
  if ((dir === undefined) === (git === undefined))
    throw new Failure('invalid_argument', 'dir, git: expected one of the two.');
  if (git !== undefined) return { kind: 'git', location: git, ref: ref ?? null };
  if (ref !== undefined)
    throw new Failure('invalid_argument', 'ref: not allowed with dir; only git sources have a ref.');
  // Only the command line takes it, and that runs where its user is.
  return { kind: 'dir', location: await realDirectory(dir ?? ''), ref: null };
}

const sync = writeOperation({
  id: 'source.sync',
  causes: { of: 'source' },
  summary: 'Fetch a source again; a directory is accepted as it is now',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'source sync', positionals: ['name'], examples: ['svc source sync ops'] },
  input: z.strictObject({ name: field.name }),
  answers: ['source.get'],
  failures: ['not_found', 'conflict', 'unavailable'],
  async prepare(context, { name }) {
    const source = await checkedSource(context, name);
    return { source, fetched: await context.services.sources.fetch(placeOfSource(source)) };
  },
  async run({ tx }, _input, { source, fetched }) {
    const row = await moveSource(tx, source, fetched);
    return written(reply('source.get', sourceView(row)), row.name, { commit: row.commit_id });
  },
});

const update = writeOperation({
  id: 'source.update',
  causes: { of: 'source' },
  summary: 'Set which runs of a source need an approval',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'source update', positionals: ['name'], examples: ['svc source update ops --approve-runs all'] },
  input: z.strictObject({ name: field.name, ...SOURCE_RUNS }),
  answers: ['source.get'],
  failures: ['not_found'],
  async run({ tx }, { name, ...given }) {
    const approval = runApprovalOf(given);
    if (approval === undefined) throw new Failure('invalid_argument', 'approve_runs: expected none or all.');
    const row = await setSourceApproval(tx, name, approval);
    return written(reply('source.get', sourceView(row)), name, shown(approval));
  },
});

const remove = writeOperation({
  id: 'source.remove',
  causes: { of: 'source' },
  summary: 'Remove a source and its fetched files',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'source remove', positionals: ['name'], examples: ['svc source remove ops'] },
  input: z.strictObject({ name: field.name }),
  failures: ['not_found', 'conflict'],
  async run({ tx, services }, { name }) {
    await deleteSource(tx, name);
    // Files that cannot be removed do no harm: their names identify their contents.
    tx.afterCommit(() => void services.sources.remove(name).catch(() => undefined));
    return written(replyNone, name);
  },
});

const hooks = readOperation({
  id: 'hooks.show',
  summary: 'Show the lifecycle hooks that a source declares; they never run',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'hooks show', positionals: ['source'], examples: ['svc hooks show ops'] },
  input: z.strictObject({ source: field.name }),
  answers: ['hooks.show'],
  failures: ['not_found', 'conflict', 'unavailable'],
  async run(context, { source }) {
    const { sources } = context.services;
    const row = await checkedSource(context, source);
    const tree = await sources.treeOf(placeOfSource(row));
    if (tree === null)
      throw new Failure(
        'unavailable',
        `The files of source ${source} are not on this machine: svc source sync ${source}`,
      );
    const file = await sources.hooksFile(tree);
    return reply('hooks.show', {
      source,
      file,
      hooks: file === null ? [] : [...(await sources.hookNames(tree, file))],
    });
  },
});

export const SOURCE_OPERATIONS = [list, add, update, sync, remove, hooks];
