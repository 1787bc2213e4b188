import type { Entry } from '../../../domain/configuration/change.ts';
import type { Db } from '../../../store/schema/schema.ts';
import type { YamlMap } from '../../../domain/yaml/file.ts';
import type { Node } from '../json-schema.ts';
import type { Context } from '../operation.ts';

/** Where stored objects are read: what is committed, or what a transaction sees. */
export interface StoredFrom extends Pick<Context, 'services'> {
  readonly db: Db;
}

/** A call of an operation: its id and its input. */
export type Call = readonly [operation: string, input: Readonly<Record<string, unknown>>];

/** Puts the stored credentials of an object in place of `[kept]`. Throws invalid_argument where none is stored. */
export type Restore = <T>(value: T) => T;

/** The credentials of an entry. */
export interface Credentials {
  /** The entry with `[kept]` for each, as a file that is written has it. */
  hide(entry: Entry): Entry | Promise<Entry>;
  /** The entry with the stored ones in place of `[kept]`. Throws invalid_argument where none is stored. */
  keep(entry: Entry, stored: Entry): Entry | Promise<Entry>;
}

/**
 * How objects of one kind are in a configuration file. Everything is read and written by the operations of the kind;
 * this says which call makes which difference.
 */
export interface ConfigSection {
  /** The word for one, also the first word of its operations. */
  readonly word: string;
  /** Where an entry may have credentials besides those in URLs. */
  readonly credentials?: Credentials;
  /** Fields that name a folder; a relative one begins at the folder of the file. */
  readonly folders?: readonly string[];
  /** From afar its changes are applied at once: it starts no job and decides about none. */
  readonly isDirect?: true;
  /** Its changes fetch from a place that they name. */
  readonly isFetched?: true;
  /** A new one has something that is shown once, to who makes it. */
  readonly isShownOnce?: true;
  /** JSON Schema of an entry, the name aside. */
  readonly schema: () => Node;
  /** The stored objects by name, each as an entry with its credentials. */
  stored(from: StoredFrom): Promise<ReadonlyMap<string, Entry>>;
  /** Reads an entry in the form of a stored one. Throws invalid_argument. */
  read(map: YamlMap, restore: Restore): Promise<Entry>;
  add(name: string, entry: Entry): readonly Call[];
  /** The calls that make the one of the other. Throws conflict where none do. */
  change(name: string, from: Entry, to: Entry): readonly Call[];
  remove(name: string): readonly Call[];
}

/** What a configuration file may hold, by the name of the section, in the order of changes. */
export type ConfigSections = ReadonlyMap<string, ConfigSection>;

/** The input of a call without what only the file says. */
export function without(entry: Entry, ...fields: readonly string[]): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
}

/** Enabled objects do not say so. */
export function disabledOf(enabled: boolean): Entry {
  return enabled ? {} : { enabled: false };
}

/** What enables or disables it, if that differs. */
export function switchCalls(word: string, name: string, from: Entry, to: Entry): readonly Call[] {
  if (from['enabled'] === to['enabled']) return [];
  return [[`${word}.${to['enabled'] === false ? 'disable' : 'enable'}`, { name }]];
}
