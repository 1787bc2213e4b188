import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  type Driver,
  type QueryResult,
  Kysely,
} from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Db, Schema } from '../schema/schema.ts';

/** What a connection needs of a compiled query. */
export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>;

/** A connection that sends statements however they were made. */
export interface StatementConnection extends DatabaseConnection {
  executeQuery<R>(statement: Statement): Promise<QueryResult<R>>;
}

/** The base of our query builders. */
interface Bound {
  readonly dialect: Dialect;
  readonly run: <R>(statement: Statement) => Promise<QueryResult<R>>;
}

const BOUND = new WeakMap<Db, Bound>();

/** Makes a query builder whose statements all go to `connection`. */
export function bindDb(
  dialect: Dialect,
  connection: StatementConnection,
  parts: Omit<KyselyDialect, 'createDriver'>,
): Db {
  const db = new Kysely<Schema>({ dialect: { ...parts, createDriver: () => new SingleConnectionDriver(connection) } });
  BOUND.set(db, { dialect, run: (statement) => connection.executeQuery(statement) });
  return db;
}

/** Runs a statement past the builder's own executor, whose dozen promises cost 6 us for each. */
export function runStatement<R>(db: Db, statement: Statement): Promise<QueryResult<R>> {
  return boundOf(db).run<R>(statement);
}

/** The facts of the database that `db` talks to. */
export function dialectOf(db: Db): Dialect {
  return boundOf(db).dialect;
}

function boundOf(db: Db): Bound {
  const bound = BOUND.get(db);
  if (bound === undefined) throw new Error('this query builder was not made by bindDb');
  return bound;
}

class SingleConnectionDriver implements Driver {
  readonly #connection: DatabaseConnection;
  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async beginTransaction(): Promise<void> {
    throw new Error('transactions are opened by the write gate');
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}
