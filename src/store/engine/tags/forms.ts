/** The text that a tag is made of. What it covers is a row of `tagged-tables.ts`. */
import { FORMS, type TaggedRows } from './tagged-tables.ts';

/** The columns of a tag. Null in rows of earlier builds. */
export interface OrderTag {
  readonly order_tag: string | null;
  readonly order_key_id: string | null;
}

/** A row as its writer has it: the tag is made when it is written. */
export type Untagged<R extends OrderTag> = Omit<R, keyof OrderTag>;

export type TaggedTable = keyof typeof FORMS;
export const TAGGED_TABLES = Object.keys(FORMS) as TaggedTable[];

/** The columns that the tag of a table covers. */
export type Covered<T extends TaggedTable> = Pick<
  TaggedRows[T],
  (typeof FORMS)[T]['columns'][number] & keyof TaggedRows[T]
>;

// Below, a row is an object that has at least the covered columns of its table: `tags.ts` has the types.

/** The text of a tag, JSON of a list: no two rows have the same. */
export function textOf(table: TaggedTable, row: object): string {
  const { what, columns, later = [] }: AnyForm = FORMS[table];
  const values = row as Values;
  const count = later.findLastIndex((column) => (values[column] ?? null) !== null) + 1;
  return listed(what, values, [...columns, ...later.slice(0, count)]);
}

/** That of an earlier build; null where it had no other. */
export function earlierTextOf(table: TaggedTable, row: object): string | null {
  const { what, earlier }: AnyForm = FORMS[table];
  return earlier === undefined ? null : listed(what, row as Values, earlier);
}

/** Whether an earlier build tagged such a row. */
export function hadTag(table: TaggedTable, row: object): boolean {
  const { hadTag: had }: AnyForm = FORMS[table];
  return had?.(row as never) ?? false;
}

/** As in messages: `job job_01…`. */
export function nameOf(table: TaggedTable, row: object): string {
  const { what, called = what, key }: AnyForm = FORMS[table];
  return `${called} ${key.map((column) => String((row as Values)[column])).join(' ')}`;
}

/** The columns that name a row. */
export function keyOf(table: TaggedTable): readonly string[] {
  return FORMS[table].key;
}

type Values = Readonly<Record<string, unknown>>;

interface AnyForm {
  readonly what: string;
  readonly called?: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly later?: readonly string[];
  readonly earlier?: readonly string[];
  readonly hadTag?: (row: never) => boolean;
}

function listed(what: string, row: Values, columns: readonly string[]): string {
  return JSON.stringify([what, ...columns.map((column) => plainOf(row[column]))]);
}

/** Bytes are not the same class on each database. */
function plainOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}
