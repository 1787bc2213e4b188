import { type Insertable, type SelectQueryBuilder, sql, type UpdateResult } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Db, Schema, Table } from '../schema/schema.ts';
import { prepared, preparedInOrder } from './prepared.ts';

/** The queries that most tables have. Those of the hot paths are compiled once for each database. */

/** Makes the query for the row whose `column` has a value. */
export function rowBy<T extends Table, C extends string & keyof Schema[T]>(table: T, column: C) {
  const query = prepared<{ value: Schema[T][C] }, Schema[T]>((db, value) => {
    const select = sql<Schema[T]>`select * from ${sql.table(table)} where ${sql.ref(column)} = ${value('value')}`;
    return { compile: () => select.compile(db) };
  });
  return async (db: Db, value: Schema[T][C]): Promise<Schema[T] | undefined> => (await query(db, { value })).rows[0];
}

/** The row. Throws not_found for undefined. */
export function found<R>(row: R | undefined, what: string, name: string): R {
  if (row === undefined) throw new Failure('not_found', `There is no ${what} ${name}.`);
  return row;
}

interface Insert {
  readonly columns: readonly string[];
  readonly run: ReturnType<typeof insertOf>;
}

/** Statements that are kept for one table; a row that needs another one is written with its null columns. */
const INSERTS_EACH = 16;
const INSERTS = new Map<string, Insert[]>();

/**
 * Inserts a row; false where `or` is `skip` and a unique column has the value already. No value may be undefined. A
 * column that is null is left out, which says the same where it has no default: 22 of the 36 of a new job are null, and
 * binding them took a third of its insert.
 */
export function insertRow<T extends Table>(
  db: Db,
  table: T,
  row: Insertable<Schema[T]>,
  or: 'fail' | 'skip' = 'fail',
): Promise<boolean> {
  const whole = { columns: Object.keys(row), values: Object.values<unknown>(row) };
  const present = withoutNull(whole);
  const inserts = INSERTS.getOrInsertComputed(or === 'skip' ? `${table} ${or}` : table, () => []);
  const add = ({ columns }: Columns): Insert => {
    const insert = { columns, run: insertOf(table, columns, or) };
    inserts.push(insert);
    return insert;
  };
  const fitting = find(inserts, present) ?? (inserts.length < INSERTS_EACH ? add(present) : null);
  const inserted =
    fitting === null ? (find(inserts, whole) ?? add(whole)).run(db, whole.values) : fitting.run(db, present.values);
  return inserted.then(({ changed }) => changed > 0);
}

interface Columns {
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

function find(inserts: readonly Insert[], { columns }: Columns): Insert | undefined {
  return inserts.find((each) => isSame(each.columns, columns));
}

/** By place: a value that is read by its name costs five times as much here, where rows of all tables come. */
function withoutNull({ columns, values }: Columns): Columns {
  const present = { columns: [] as string[], values: [] as unknown[] };
  for (let at = 0; at < columns.length; at += 1) {
    if (values[at] === null) continue;
    present.columns.push(columns[at] ?? '');
    present.values.push(values[at]);
  }
  return present;
}

function insertOf(table: Table, columns: readonly string[], or: 'fail' | 'skip') {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const end = or === 'skip' ? sql`on conflict do nothing` : sql``;
  // Each name stands for its value.
  const insert = sql`insert into ${sql.table(table)} (${names}) values (${sql.join(columns)}) ${end}`;
  return preparedInOrder((db) => ({ compile: () => insert.compile(db) }));
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at]);
}

/** How many rows a query finds. */
export async function countOf<T extends Table>(query: SelectQueryBuilder<Schema, T, object>): Promise<number> {
  const row = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return row.count;
}

/** Whether an update changed a row. */
export async function hasChanged(update: { executeTakeFirst(): Promise<UpdateResult> }): Promise<boolean> {
  return (await update.executeTakeFirst()).numUpdatedRows > 0n;
}
