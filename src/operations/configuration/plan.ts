import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Entry, type FieldChange, fieldChanges } from '../../domain/configuration/change.ts';
import {
  type ConfigFile,
  type FileEntry,
  readConfigFile,
  SECTIONS,
  type Section,
} from '../../domain/configuration/file.ts';
import { placed } from '../../domain/configuration/place.ts';
import { Failure } from '../../domain/failure.ts';
import { lineOf } from '../../domain/yaml/fields.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import { listManaged } from '../../store/configuration/managed.ts';
import type { ConfigObjectRow } from '../../store/schema/schema.ts';
import { hideCredentials, keptCredentials, replaceTexts, textsOf } from '../core/kept.ts';
import type { Context, Operation } from '../core/operation.ts';
import { type Part, preparePart } from './part.ts';
import { CONFIG_KINDS, sectionOf } from './kinds.ts';
import type { Call, ConfigSection } from '../core/sections/section.ts';

/** What `config diff` and `config apply` are asked. */
interface Asked {
  readonly text: string;
  /** The folder of the file, for its relative paths; that of the caller without one, as for standard input. */
  readonly folder?: string | undefined;
  /** Remove what the set of the file manages and the file does not name. */
  readonly prune: boolean;
  /** Manage objects that another set manages. */
  readonly take: boolean;
}

/** A difference between the file and the store. */
export interface Change {
  readonly change: 'add' | 'change' | 'remove';
  readonly section: Section;
  readonly name: string;
  /** Where the object is in the file; null for one that it does not name. */
  readonly entry: FileEntry | null;
  /** Of a change, without credentials. */
  readonly fields: readonly FieldChange[];
  readonly calls: readonly Call[];
  /** What the last apply left of an object that is different now: somebody changed it since. */
  readonly changedSince: number | null;
}

export interface Plan {
  readonly set: string | null;
  readonly changes: readonly Change[];
  /** How many objects of the file are as they should be. */
  readonly same: number;
  /** What the set manages and the file does not name; `prune` removes it. */
  readonly left: readonly { readonly section: Section; readonly name: string }[];
  /** What was there and the set of the file did not manage, and the set that did. */
  readonly taken: readonly { readonly section: Section; readonly name: string; readonly from: string | null }[];
  /** What the set of the file manages afterwards, as far as it changes. */
  readonly managed: readonly Omit<ConfigObjectRow, 'applied_at'>[];
}

type Stored = Readonly<Record<Section, ReadonlyMap<string, Entry>>>;
type Managed = ReadonlyMap<string, ConfigObjectRow>;

/** Compares a file with the store. Throws invalid_argument and conflict that name line and column. */
export async function planOf(context: Context, { text, prune, ...asked }: Asked): Promise<Plan> {
  const file = await readConfigFile(text);
  if (prune && file.set === null)
    throw new Failure(
      'invalid_argument',
      'prune: the file has no set; write "set: NAME" in it, so that it owns objects.',
    );
  const managed = await readManaged(context);
  const stored = await readStored(context, file, managed);
  const wanted = await readWanted(context, file, stored, managed, asked);
  const changed: Change[] = [];
  for (const each of wanted) changed.push(...(await changeOf(each, stored[each.entry.section], managed)));
  const left = leftOf(file, stored, managed);
  return {
    set: file.set,
    changes: [...changed, ...(prune ? left.map(removal).toReversed() : [])],
    same: wanted.length - changed.length,
    left: prune ? [] : left,
    taken: takenBy(file.set, wanted, stored, managed),
    managed: file.set === null ? [] : managedBy(file.set, wanted, managed),
  };
}

/** Finds an operation by its id, and throws for an unknown one. */
export type LoadOperation = (id: string) => Promise<Operation>;

/** Prepares every call of the changes. Throws as their operations do, with line and column. */
export async function prepareChanges(
  context: Context,
  load: LoadOperation,
  changes: readonly Change[],
): Promise<{ readonly part: Part; readonly entry: FileEntry | null }[]> {
  const timer = new YieldTimer(context.services.clock);
  const parts: { part: Part; entry: FileEntry | null }[] = [];
  for (const { calls, entry } of changes)
    for (const [id, input] of calls) {
      const operation = await load(id);
      parts.push({ part: await placing(entry, () => preparePart(context, operation, input)), entry });
      if (timer.isDue) await timer.breathe();
    }
  return parts;
}

/** Does the work, and gives a refusal its place in the file. */
export async function placing<T>(entry: FileEntry | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw entry === null ? error : placed(error, entry);
  }
}

/** What the file can differ from: the sections that it names, and those of what its set manages. */
async function readStored(context: Context, { set, entries }: ConfigFile, managed: Managed): Promise<Stored> {
  const named = new Set<Section | undefined>(entries.map(({ section }) => section));
  for (const row of managed.values()) if (row.config_set === set) named.add(sectionOf(row.kind));
  const read = SECTIONS.map(
    async (section) => [section, named.has(section) ? await CONFIG_KINDS[section].stored(context) : new Map()] as const,
  );
  return Object.fromEntries(await Promise.all(read)) as Stored;
}

async function readManaged({ store }: Context): Promise<Managed> {
  return new Map((await listManaged(store.db)).map((row) => [`${row.kind} ${row.name}`, row]));
}

function managedKey(section: Section, name: string): string {
  return `${CONFIG_KINDS[section].word} ${name}`;
}

interface Wanted {
  readonly entry: FileEntry;
  readonly fields: Entry;
}

async function readWanted(
  { services }: Context,
  { set, entries }: ConfigFile,
  stored: Stored,
  managed: Managed,
  { take, folder = '' }: Pick<Asked, 'take' | 'folder'>,
): Promise<Wanted[]> {
  const timer = new YieldTimer(services.clock);
  const wanted: Wanted[] = [];
  for (const entry of entries) {
    const { section, name, map } = entry;
    const kind = CONFIG_KINDS[section];
    const before = stored[section].get(name);
    const restore = restorer(kind.word, before);
    const fields = await placing(entry, async () => {
      const read = await kind.read(map, (value) => inFolder(folder, kind, restore(value)));
      return kind.credentials?.keep(read, before ?? {}) ?? read;
    });
    const owner = managed.get(managedKey(section, name))?.config_set ?? set;
    // A file without a set, such as an export of all, manages nothing: it may name what others manage.
    if (owner !== set && !take && (set !== null || !isDeepStrictEqual(before, fields)))
      throw new Failure(
        'conflict',
        `${section}.${name}${lineOf(map)}: the set ${owner} manages this ${kind.word}; use --take to move it here.`,
      );
    wanted.push({ entry, fields });
    if (timer.isDue) await timer.breathe();
  }
  return wanted;
}

/** Puts the credentials of the stored object in place of `[kept]`. */
function restorer(word: string, stored: Entry | undefined): <T>(value: T) => T {
  const originals = stored === undefined ? [] : textsOf(stored);
  return (value) => replaceTexts(value, keptCredentials(word, originals));
}

/** The fields of an entry, with absolute paths. */
function inFolder<T>(folder: string, { folders = [] }: ConfigSection, value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const paths = Object.entries(value).filter(([field, path]) => folders.includes(field) && typeof path === 'string');
  return { ...value, ...Object.fromEntries(paths.map(([field, path]) => [field, resolve(folder, String(path))])) };
}

async function changeOf(
  { entry, fields: to }: Wanted,
  stored: ReadonlyMap<string, Entry>,
  managed: Managed,
): Promise<Change[]> {
  const { section, name } = entry;
  const kind = CONFIG_KINDS[section];
  const from = stored.get(name);
  const base = { section, name, entry };
  if (from === undefined)
    return [{ ...base, change: 'add', fields: [], calls: kind.add(name, to), changedSince: null }];
  if (isDeepStrictEqual(from, to)) return [];
  const row = managed.get(managedKey(section, name));
  const isByHand = row !== undefined && row.digest !== digestOf(from);
  const calls = kind.change(name, from, to);
  return [
    {
      ...base,
      change: 'change',
      fields: await shownChanges(kind, from, to),
      calls,
      changedSince: isByHand ? row.applied_at : null,
    },
  ];
}

/** What differs, without credentials. A field that differs in a credential only is the same on both sides. */
async function shownChanges({ credentials }: ConfigSection, from: Entry, to: Entry): Promise<FieldChange[]> {
  const [before = from, after = to] = [await credentials?.hide(from), await credentials?.hide(to)];
  return fieldChanges(from, to).map(({ field }) =>
    replaceTexts({ field, from: before[field], to: after[field] }, hideCredentials),
  );
}

function leftOf({ set, entries }: ConfigFile, stored: Stored, managed: Managed): Plan['left'] {
  const named = new Set(entries.map(({ section, name }) => managedKey(section, name)));
  const rows = [...managed].filter(([key, row]) => set !== null && row.config_set === set && !named.has(key));
  return rows
    .flatMap(([, { kind, name }]) => {
      const section = sectionOf(kind);
      return section !== undefined && stored[section].has(name) ? [{ section, name }] : [];
    })
    .toSorted((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
}

function removal({ section, name }: Plan['left'][number]): Change {
  const calls = CONFIG_KINDS[section].remove(name);
  return { change: 'remove', section, name, entry: null, fields: [], calls, changedSince: null };
}

function takenBy(set: string | null, wanted: readonly Wanted[], stored: Stored, managed: Managed): Plan['taken'] {
  return wanted.flatMap(({ entry: { section, name } }) => {
    const from = managed.get(managedKey(section, name))?.config_set ?? null;
    return set === null || from === set || !stored[section].has(name) ? [] : [{ section, name, from }];
  });
}

function managedBy(set: string, wanted: readonly Wanted[], managed: Managed): Plan['managed'] {
  return wanted.flatMap(({ entry: { section, name }, fields }) => {
    const row = { kind: CONFIG_KINDS[section].word, name, config_set: set, digest: digestOf(fields) };
    const before = managed.get(managedKey(section, name));
    return before?.config_set === set && before.digest === row.digest ? [] : [row];
  });
}

/** Of the entry without its credentials, whatever the order of its fields. */
function digestOf(fields: Entry): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(replaceTexts(sorted, hideCredentials)));
}
