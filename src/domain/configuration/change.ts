import { isDeepStrictEqual } from 'node:util';

/** The fields of an object besides its name, as a file has them. Fields with their default are left out. */
export type Entry = Readonly<Record<string, unknown>>;

/** A field that another value takes the place of; undefined where an entry does not have it. */
export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The fields in which two entries differ, those of the first one first. */
export function fieldChanges(from: Entry, to: Entry): FieldChange[] {
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return fields
    .filter((field) => !isDeepStrictEqual(from[field], to[field]))
    .map((field) => ({ field, from: from[field], to: to[field] }));
}

/** A change as who decides about it sees it: texts as in a file, null where there is no such field. */
export interface OrderedChange {
  readonly change: 'add' | 'change' | 'remove';
  /** The word for its kind, such as `rule`. */
  readonly kind: string;
  readonly name: string;
  readonly fields: readonly { readonly field: string; readonly from: string | null; readonly to: string | null }[];
}

/** The operations that change a definition of this kind. */
export function writesOf(kind: string): string[] {
  return ['add', 'set', 'update', 'enable', 'disable', 'remove'].map((verb) => `${kind}.${verb}`);
}
