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

/** By table and conflict: rows of one table may be written with fewer columns. */
const INSERTS = new Map<string, Insert[]>();

/** Inserts a row; false where `or` is `skip` and a unique column has the value already. No value may be undefined. */
export function insertRow<T extends Table>(
  db: Db,
  table: T,
  row: Insertable<Schema[T]>,
  or: 'fail' | 'skip' = 'fail',
): Promise<boolean> {
  const columns = Object.keys(row);
  const ofTable = INSERTS.getOrInsertComputed(or === 'skip' ? `${table} ${or}` : table, () => []);
  let insert = ofTable.find((each) => isSame(each.columns, columns));
  if (insert === undefined) ofTable.push((insert = { columns, run: insertOf(table, columns, or) }));
  return insert.run(db, Object.values<unknown>(row)).then(({ changed }) => changed > 0);
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
