import { type Insertable, type SelectQueryBuilder, sql, type UpdateResult } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Db, Schema, Table } from '../schema/schema.ts';
import { prepared, preparedBy } from './prepared.ts';

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

const INSERTS = new Map<string, ReturnType<typeof insertOf>>();

/** Inserts a row; false where `or` is `skip` and a unique column has the value already. No value may be undefined. */
export async function insertRow<T extends Table>(
  db: Db,
  table: T,
  row: Insertable<Schema[T]>,
  or: 'fail' | 'skip' = 'fail',
): Promise<boolean> {
  const columns = Object.keys(row);
  const key = `${or} ${table} ${columns.join()}`;
  const insert = INSERTS.getOrInsertComputed(key, () => insertOf(table, columns, or));
  return (await insert(db, Object.values<unknown>(row))).changed > 0;
}

function insertOf(table: Table, columns: readonly string[], or: 'fail' | 'skip') {
  return preparedBy<readonly unknown[], unknown>((db, hole) => {
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const values = sql.join(columns.map((_column, at) => hole((row) => row[at])));
    const end = or === 'skip' ? sql`on conflict do nothing` : sql``;
    const insert = sql`insert into ${sql.table(table)} (${names}) values (${values}) ${end}`;
    return { compile: () => insert.compile(db) };
  });
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
