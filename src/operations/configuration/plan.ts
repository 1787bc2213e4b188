import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Entry, type FieldChange, fieldChanges } from '../../domain/configuration/change.ts';
import { type ConfigFile, type FileEntry, readConfigFile } from '../../domain/configuration/file.ts';
import { placed } from '../../domain/configuration/place.ts';
import { Failure } from '../../domain/failure.ts';
import { lineOf } from '../../domain/yaml/fields.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import { listManaged } from '../../store/configuration/managed.ts';
import type { ConfigObjectRow } from '../../store/schema/schema.ts';
import { hideCredentials, keptCredentials, replaceTexts, textsOf } from '../core/sections/kept.ts';
import type { Context, Operation } from '../core/operation.ts';
import type { Call, ConfigSection, ConfigSections, StoredFrom } from '../core/sections/section.ts';
import { checkPart, type Part, preparePart } from './part.ts';

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
  readonly section: ConfigSection;
  readonly name: string;
  /** Where the object is in the file; null for one that it does not name. */
  readonly entry: FileEntry | null;
  /** As it is stored, and as the file has it; null for none. */
  readonly from: Entry | null;
  readonly to: Entry | null;
  /** What differs, without credentials. */
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
  readonly left: readonly { readonly section: ConfigSection; readonly name: string }[];
  /** What was there and the set of the file did not manage, and the set that did. */
  readonly taken: readonly { readonly section: ConfigSection; readonly name: string; readonly from: string | null }[];
  /** What the file was compared with. */
  readonly seen: Present;
  /** What the set of the file manages afterwards, as far as it changes. */
  readonly managed: readonly Omit<ConfigObjectRow, 'applied_at'>[];
}

/** A section of the file, and what is stored of it. */
interface StoredSection {
  readonly section: ConfigSection;
  /** Whether it was read: the file or its set has objects of it. */
  readonly isRead: boolean;
  readonly objects: ReadonlyMap<string, Entry>;
}

type Stored = ReadonlyMap<string, StoredSection>;
type Managed = ReadonlyMap<string, ConfigObjectRow>;

/** What a file is compared with. */
interface Present {
  readonly stored: Stored;
  readonly managed: Managed;
}

/** Compares a file with the store. Throws invalid_argument and conflict that name line and column. */
export async function planOf(
  context: Context,
  sections: ConfigSections,
  { text, prune, ...asked }: Asked,
): Promise<Plan> {
  const file = await readConfigFile(text, [...sections.keys()]);
  if (prune && file.set === null)
    throw new Failure(
      'invalid_argument',
      'prune: the file has no set; write "set: NAME" in it, so that it owns objects.',
    );
  const from = { db: context.store.db, services: context.services };
  const managed = await readManaged(from);
  const present = { stored: await readStored(from, sections, file, managed), managed };
  const wanted = await readWanted(context, file, present, asked);
  const changed: Change[] = [];
  for (const each of wanted) changed.push(...(await changeOf(each, managed)));
  const left = file.set === null ? [] : leftOf(file.set, wanted, present);
  const removed = prune ? await Promise.all(left.map((each) => removal(each, present))) : [];
  return {
    set: file.set,
    changes: [...changed, ...removed.toReversed()],
    same: wanted.length - changed.length,
    left: prune ? [] : left,
    seen: present,
    taken: takenBy(file.set, wanted, managed),
    managed: file.set === null ? [] : managedBy(file.set, wanted, managed),
  };
}

/**
 * Throws conflict where something that a file was compared with has changed since: each section was read by itself, and
 * what is the same in both is not written. To be called in the transaction that changes the rest.
 */
export async function requireSame(from: StoredFrom, { stored, managed }: Present): Promise<void> {
  const read = [...stored.values()].filter(({ isRead }) => isRead);
  for (const { section, objects } of read)
    if (!isDeepStrictEqual(await section.stored(from), objects)) throw new Failure('conflict', CHANGED);
  if (!isDeepStrictEqual(await readManaged(from), managed)) throw new Failure('conflict', CHANGED);
}

const CHANGED = 'The configuration was changed while the file was compared with it. Nothing was applied; try again.';

/** Finds an operation by its id, and throws for an unknown one. */
export type LoadOperation = (id: string) => Promise<Operation>;

/**
 * Prepares every call of the changes; without `fetches` only checks those that fetch something, whose parts do not run.
 * Throws as their operations do, with line and column.
 */
export async function prepareChanges(
  context: Context,
  load: LoadOperation,
  changes: readonly Change[],
  { fetches = true }: { readonly fetches?: boolean } = {},
): Promise<{ readonly part: Part; readonly entry: FileEntry | null }[]> {
  const prepare = (operation: Operation, input: unknown, { isFetched }: ConfigSection): Promise<Part> =>
    isFetched === true && !fetches ? checkPart(context, operation, input) : preparePart(context, operation, input);
  const timer = new YieldTimer(context.services.clock);
  const parts: { part: Part; entry: FileEntry | null }[] = [];
  for (const { section, calls, entry } of changes)
    for (const [id, input] of calls) {
      const operation = await load(id);
      parts.push({ part: await placing(entry, () => prepare(operation, input, section)), entry });
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
async function readStored(
  from: StoredFrom,
  sections: ConfigSections,
  { set, entries }: ConfigFile,
  managed: Managed,
): Promise<Stored> {
  const named = new Set(entries.map(({ section }) => section));
  const words = new Set([...managed.values()].filter((row) => row.config_set === set).map(({ kind }) => kind));
  const read = [...sections].map(async ([name, section]) => {
    const isRead = named.has(name) || words.has(section.word);
    return [
      name,
      { section, isRead, objects: isRead ? await section.stored(from) : new Map<string, Entry>() },
    ] as const;
  });
  return new Map(await Promise.all(read));
}

function storedIn(stored: Stored, section: string): StoredSection {
  const found = stored.get(section);
  if (found === undefined) throw new Error(`there is no section ${section}`);
  return found;
}

async function readManaged({ db }: StoredFrom): Promise<Managed> {
  return new Map((await listManaged(db)).map((row) => [`${row.kind} ${row.name}`, row]));
}

function managedKey({ word }: ConfigSection, name: string): string {
  return `${word} ${name}`;
}

/** An object of the file. */
interface Wanted {
  readonly entry: FileEntry;
  readonly section: ConfigSection;
  /** As it is stored; undefined for one that is not. */
  readonly from: Entry | undefined;
  readonly to: Entry;
}

async function readWanted(
  { services }: Context,
  { set, entries }: ConfigFile,
  { stored, managed }: Present,
  { take, folder = '' }: Pick<Asked, 'take' | 'folder'>,
): Promise<Wanted[]> {
  const timer = new YieldTimer(services.clock);
  const wanted: Wanted[] = [];
  for (const entry of entries) {
    const { name, map } = entry;
    const { section, objects } = storedIn(stored, entry.section);
    const from = objects.get(name);
    const restore = restorer(section.word, from);
    const to = await placing(entry, async () => {
      const read = await section.read(map, (value) => inFolder(folder, section, restore(value)));
      return section.credentials?.keep(read, from ?? {}) ?? read;
    });
    const owner = managed.get(managedKey(section, name))?.config_set ?? set;
    // A file without a set, such as an export of all, manages nothing: it may name what others manage.
    if (owner !== set && !take && (set !== null || !isDeepStrictEqual(from, to))) {
      const place = `${entry.section}.${name}${lineOf(map)}`;
      throw new Failure(
        'conflict',
        `${place}: the set ${owner} manages this ${section.word}; use --take to move it here.`,
      );
    }
    wanted.push({ entry, section, from, to });
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

async function changeOf({ entry, section, from, to }: Wanted, managed: Managed): Promise<Change[]> {
  const { name } = entry;
  const base = { section, name, entry, from: from ?? null, to, fields: await shownChanges(section, from ?? {}, to) };
  if (from === undefined) return [{ ...base, change: 'add', calls: section.add(name, to), changedSince: null }];
  if (isDeepStrictEqual(from, to)) return [];
  const row = managed.get(managedKey(section, name));
  const isByHand = row !== undefined && row.digest !== digestOf(from);
  const calls = section.change(name, from, to);
  return [{ ...base, change: 'change', calls, changedSince: isByHand ? row.applied_at : null }];
}

/** What differs, without credentials. A field that differs in a credential only is the same on both sides. */
async function shownChanges({ credentials }: ConfigSection, from: Entry, to: Entry): Promise<FieldChange[]> {
  const [before = from, after = to] = [await credentials?.hide(from), await credentials?.hide(to)];
  return fieldChanges(from, to).map(({ field }) =>
    replaceTexts({ field, from: before[field], to: after[field] }, hideCredentials),
  );
}

/** In the order of the sections. */
function leftOf(set: string, wanted: readonly Wanted[], { stored, managed }: Present): Plan['left'] {
  const named = new Set(wanted.map(({ section, entry }) => managedKey(section, entry.name)));
  const rows = [...managed].filter(([key, row]) => row.config_set === set && !named.has(key)).map(([, row]) => row);
  return [...stored.values()].flatMap(({ section, objects }) =>
    rows.filter(({ kind, name }) => kind === section.word && objects.has(name)).map(({ name }) => ({ section, name })),
  );
}

async function removal({ section, name }: Plan['left'][number], { stored }: Present): Promise<Change> {
  const from = [...stored.values()].find((each) => each.section === section)?.objects.get(name) ?? null;
  const none = { entry: null, from, to: null, fields: await shownChanges(section, from ?? {}, {}), changedSince: null };
  return { ...none, change: 'remove', section, name, calls: section.remove(name) };
}

function takenBy(set: string | null, wanted: readonly Wanted[], managed: Managed): Plan['taken'] {
  return wanted.flatMap(({ section, entry: { name }, from: stored }) => {
    const from = managed.get(managedKey(section, name))?.config_set ?? null;
    return set === null || from === set || stored === undefined ? [] : [{ section, name, from }];
  });
}

function managedBy(set: string, wanted: readonly Wanted[], managed: Managed): Plan['managed'] {
  return wanted.flatMap(({ section, entry: { name }, to }) => {
    const row = { kind: section.word, name, config_set: set, digest: digestOf(to) };
    const before = managed.get(managedKey(section, name));
    return before?.config_set === set && before.digest === row.digest ? [] : [row];
  });
}

/** Of the entry without its credentials, whatever the order of its fields. */
function digestOf(fields: Entry): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(replaceTexts(sorted, hideCredentials)));
}
