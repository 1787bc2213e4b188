import type { Entry } from '../../domain/configuration/change.ts';
import * as z from 'zod';
import { CONFIG_LIMITS } from '../../domain/configuration/file.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import { listManaged, setManaged } from '../../store/configuration/managed.ts';
import * as field from '../core/fields.ts';
import { type Context, localOnly, type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ConfigSection, ConfigSections } from '../core/sections/section.ts';
import type { ViewData } from '../../views/views.ts';
import { changesByHand, changeViews } from './change-view.ts';
import { type LoadOperation, placing, type Plan, planOf, prepareChanges, requireSame } from './plan.ts';
import { writeConfigFile } from './write-file.ts';

const LOCAL_ONLY = localOnly(
  'A configuration file decides what starts jobs, so it is compared and applied on the machine only.',
);

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
    ...LOCAL_ONLY,
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
    async run(context, asked) {
      const plan = await planOf(context, await loadSections(), asked);
      await prepareChanges(context, load, plan.changes);
      return reply('config.diff', await planView(context, plan));
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

function applyOperation(load: LoadOperation, loadSections: LoadSections): Operation {
  return writeOperation({
    id: 'config.apply',
    causes: { none: 'Each of its parts is a write with a row here.' },
    summary: 'Make the configuration that of a file: all of it, or nothing',
    // The URLs of new webhooks are in the answer.
    shownOnce: true,
    scopes: OPERATORS,
    ...LOCAL_ONLY,
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
    input: z.strictObject(ASKED),
    answers: ['config.applied'],
    failures: ['conflict', 'duplicate', 'not_found'],
    async prepare(context, asked) {
      const plan = await planOf(context, await loadSections(), asked);
      const parts = await prepareChanges(context, load, plan.changes);
      return { plan, parts, view: await planView(context, plan) };
    },
    async run(context, _input, { plan, parts, view }) {
      // Two at a time would each write what differed before the other.
      await context.tx.dialect.lockKey(context.tx.db, 'config');
      await requireSame({ db: context.tx.db, services: context.services }, plan.seen);
      const webhooks: ViewData<'config.applied'>['webhooks'] = [];
      for (const { part, entry } of parts) {
        const made = await placing(entry, () => part(context));
        if (made.shape === 'one' && made.kind === 'webhook.created')
          webhooks.push(made.data as ViewData<'webhook.created'>);
      }
      const { tx } = context;
      await setManaged(
        tx,
        plan.managed.map((row) => ({ ...row, applied_at: tx.now })),
      );
      const count = (word: string): number => plan.changes.filter(({ change }) => change === word).length;
      const counts = { added: count('add'), changed: count('change'), removed: count('remove') };
      return written(reply('config.applied', { ...view, webhooks }), plan.set, {
        ...counts,
        managed: plan.managed.length,
      });
    },
  });
}

export function configOperations(load: LoadOperation, loadSections: LoadSections): readonly Operation[] {
  return [exportOperation(loadSections), diffOperation(load, loadSections), applyOperation(load, loadSections)];
}
