import type { Entry } from '../../domain/configuration/change.ts';
import * as z from 'zod';
import { CONFIG_LIMITS } from '../../domain/configuration/file.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import { digestOfText } from '../../store/configuration/orders.ts';
import { listManaged } from '../../store/configuration/managed.ts';
import { queuedDetail } from '../../jobs/queue.ts';
import { queueConfig } from '../../jobs/config-order/queue.ts';
import * as field from '../core/fields.ts';
import { queueingOf, writtenJob } from '../jobs/queued.ts';
import { hideSecrets } from '../secrets/hide-secrets.ts';
import {
  type Context,
  localOnly,
  type Operation,
  readOperation,
  type WriteContext,
  writeOperation,
} from '../core/operation.ts';
import { reply, type Reply, written, type Written } from '../core/reply.ts';
import type { ConfigSection, ConfigSections } from '../core/sections/section.ts';
import type { ViewData } from '../../views/views.ts';
import { changesByHand, changeViews } from './change-view.ts';
import { applyParts, countsOf, holdConfiguration } from './apply-parts.ts';
import { isDirect, refuseFromAfar } from './from-afar.ts';
import { digestOfChanges, hideWords, orderedChanges } from './ordered-changes.ts';
import { type LoadOperation, type Plan, planOf, prepareChanges } from './plan.ts';
import { writeConfigFile } from './write-file.ts';

const LOCAL_ONLY = localOnly('The whole configuration is read on the machine only.');
const NO_TOOL = { none: 'An agent that changed what starts jobs would give itself its work.' };

const FILE = {
  field: 'text',
  folderField: 'folder',
  what: 'the configuration',
  cure: '',
  question: null,
  bytesMax: CONFIG_LIMITS.bytesMax,
} as const;

const text = z
  .string({ error: 'expected the text of a configuration file' })
  .refine((text) => Buffer.byteLength(text) <= CONFIG_LIMITS.bytesMax, {
    error: `expected at most ${CONFIG_LIMITS.bytesMax} bytes`,
  });

const ASKED = {
  text,
  folder: z.string().optional(),
  prune: field.flag.describe('Remove what the set of the file manages and the file does not name'),
  take: field.flag.describe('Move objects of other sets to the set of the file'),
};

/** Before a yes nothing is fetched for a caller who is not on the machine. */
const FROM_AFAR = { fetches: false } as const;

/** The sections are loaded when a request needs them. */
type LoadSections = () => Promise<ConfigSections>;

function exportOperation(loadSections: LoadSections): Operation {
  return readOperation({
    id: 'config.export',
    summary: 'Print the configuration as a file that svc config apply accepts',
    scopes: OPERATORS,
    ...LOCAL_ONLY,
    cli: { verb: 'config export', examples: ['svc config export > gatehouse.yaml', 'svc config export --set web'] },
    input: z.strictObject({ set: field.name.optional().describe('Only what this set manages') }),
    answers: ['config.exported'],
    async run(context, { set }) {
      const own = set === undefined ? null : await managedBy(context, set);
      const objects = [...(await loadSections())].map(
        async ([name, section]) => [name, await exportedOf(context, section, own)] as const,
      );
      const file = Object.fromEntries(await Promise.all(objects));
      return reply('config.exported', { text: await writeConfigFile(set ?? null, file) });
    },
  });
}

/** The word and name of each object of a set. */
async function managedBy({ store }: Context, set: string): Promise<ReadonlySet<string>> {
  const managed = await listManaged(store.db);
  return new Set(managed.filter((row) => row.config_set === set).map(({ kind, name }) => `${kind} ${name}`));
}

/** The objects of a section without credentials: its own, or all of them. */
async function exportedOf(
  context: Context,
  section: ConfigSection,
  own: ReadonlySet<string> | null,
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (const [name, entry] of await section.stored({ db: context.store.db, services: context.services }))
    if (own === null || own.has(`${section.word} ${name}`))
      entries.set(name, (await section.credentials?.hide(entry)) ?? entry);
  return entries;
}

/** A change is a call of an operation, which `load` finds. */
function diffOperation(load: LoadOperation, loadSections: LoadSections): Operation {
  return readOperation({
    id: 'config.diff',
    summary: 'Show what svc config apply would change; exit with 2 if anything',
    scopes: OPERATORS,
    http: { method: 'POST', path: '/config/diff', omit: ['folder'] },
    mcp: NO_TOOL,
    cli: {
      verb: 'config diff',
      stdin: FILE,
      omit: ['text', 'folder'],
      differs: 'changes',
      examples: ['svc config diff --file gatehouse.yaml', 'svc config diff --file web.yaml --prune'],
    },
    input: z.strictObject(ASKED),
    answers: ['config.diff'],
    failures: ['conflict', 'not_found'],
    audits: ({ text }) => digestOfText(text).slice(0, 12),
    async run(context, asked) {
      const plan = await planOf(context, await loadSections(), asked);
      if (context.caller.credential === 'local') {
        await prepareChanges(context, load, plan.changes);
        return reply('config.diff', await planView(context, plan));
      }
      await refuseFromAfar(plan.changes);
      await prepareChanges(context, load, plan.changes, FROM_AFAR);
      const shown = await planView(context, { ...plan, changes: plan.changes.map(hideWords) });
      return reply('config.diff', await hideSecrets(context, shown));
    },
  });
}

async function planView(context: Context, { set, changes, same, left, taken }: Plan): Promise<ViewData<'config.diff'>> {
  const byHand = await changesByHand(context, changes);
  return {
    set,
    changes: changeViews(changes, byHand),
    same,
    left: left.map(({ section, name }) => ({ kind: section.word, name })),
    taken: taken.map(({ section, name, from }) => ({ kind: section.word, name, from })),
  };
}

/** What `config.apply` has found before its transaction. */
interface Prepared {
  readonly plan: Plan;
  readonly parts: Parameters<typeof applyParts>[2];
  readonly view: ViewData<'config.diff'>;
  /** Waits for the approval of another person; false: it is applied at once. */
  readonly asks: boolean;
}

function applyOperation(load: LoadOperation, loadSections: LoadSections): Operation {
  return writeOperation({
    id: 'config.apply',
    summary: 'Make the configuration that of a file: all of it, or nothing',
    effect: 'enqueue',
    // Where all of it is applied at once.
    mayMakeNone: true,
    // The URLs of new webhooks are in the answer. From afar no webhook is made.
    shownOnce: 'on the machine',
    scopes: OPERATORS,
    http: { method: 'POST', path: '/config/apply', omit: ['folder'], otherStatuses: [200] },
    mcp: NO_TOOL,
    cli: {
      verb: 'config apply',
      stdin: FILE,
      omit: ['text', 'folder'],
      examples: ['svc config apply --file gatehouse.yaml', 'svc config apply --file web.yaml --prune --yes'],
      confirm: {
        by: 'yes',
        question: 'Remove what the set of the file manages and the file does not name? [y/N] ',
        when: 'prune',
      },
    },
    input: z.strictObject({ ...ASKED, because: field.because }),
    answers: ['config.applied', 'approval.pending'],
    failures: ['conflict', 'duplicate', 'not_found'],
    async prepare(context, asked): Promise<Prepared> {
      const sections = await loadSections();
      const plan = await planOf(context, sections, asked);
      const isLocal = context.caller.credential === 'local';
      if (!isLocal) await refuseFromAfar(plan.changes);
      const asks = !isLocal && !isDirect(plan, sections);
      const parts = await prepareChanges(context, load, plan.changes, asks ? FROM_AFAR : {});
      return { plan, parts, view: await planView(context, plan), asks };
    },
    run: (context, asked, prepared) =>
      prepared.asks ? askForApproval(context, asked, prepared) : applyNow(context, prepared),
  });
}

async function applyNow(context: WriteContext, { plan, parts, view }: Prepared): Promise<Written> {
  const webhooks = await applyParts(context, plan, parts);
  const data: ViewData<'config.applied'> = { ...view, webhooks };
  const answer: Reply = { shape: 'one', kind: 'config.applied', data, status: 200 };
  return { ...written(answer, plan.set, countsOf(plan)), jobless: true };
}

/** Another person says yes to the whole file: a part of it without the rest may be a state that no one wanted. */
async function askForApproval(
  context: WriteContext,
  { text, prune, take }: { readonly text: string; readonly prune: boolean; readonly take: boolean },
  { plan }: Prepared,
): Promise<Written> {
  await holdConfiguration(context, plan);
  const { caller, services } = context;
  const { id, name, owner, via } = caller;
  const queued = await queueConfig(queueingOf(context), services.approvalTtlMs, {
    text,
    set: plan.set,
    prune,
    take,
    changes: digestOfChanges(plan),
    shownChanges: orderedChanges(plan),
    author: { id, name, owner, via },
  });
  return writtenJob(queued, { ...countsOf(plan), ...queuedDetail(queued) });
}

export function configOperations(load: LoadOperation, loadSections: LoadSections): readonly Operation[] {
  return [exportOperation(loadSections), diffOperation(load, loadSections), applyOperation(load, loadSections)];
}
