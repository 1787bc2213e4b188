import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { bindDb } from '../bound.ts';
import type { Dialect } from '../dialect.ts';
import type { Db } from '../../schema/schema.ts';

/** Statements are compiled once and kept; a program asks some dozens of different ones. */
const STATEMENTS_KEPT = 500;

type Parameter = string | number | bigint | Uint8Array | null;

/**
 * SQLite reads the value of a bound limit to plan with it, and so it plans again each time a value is bound: that took
 * most of the 660 µs of a claim. The value of an expression it does not read.
 */
const BOUND_LIMIT = /\blimit \?/g;

/**
 * One connection to one file. Kysely's own SQLite driver serialises through a mutex and opens deferred
 * transactions; here the write gate already serialises, and transactions are opened by the engine, immediate
 * (measured with four processes: immediate 135,000 transactions and 0 busy, deferred 27,000 and 554,000 busy).
 */
export class SqliteConnection implements DatabaseConnection {
  readonly raw: DatabaseSync;
  readonly #statements = new Map<string, { statement: StatementSync; reads: boolean }>();

  constructor(file: string, options: { readOnly: boolean }) {
    this.raw = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 0 });
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return Promise.resolve(this.run<R>(query.sql, query.parameters as Parameter[]));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  run<R>(sql: string, parameters: readonly Parameter[]): QueryResult<R> {
    const { statement, reads } = this.#prepare(sql);
    if (reads) return { rows: statement.all(...parameters) as R[] };
    const result = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(result.changes) };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    // Long lists are read in batches with the last key as the cursor: a statement held open over a slow
    // client would keep the write-ahead log from being checkpointed.
    throw new Error('streamQuery is not used: read batches by key instead');
  }

  close(): void {
    this.#statements.clear();
    this.raw.close();
  }

  #prepare(sql: string): { statement: StatementSync; reads: boolean } {
    let entry = this.#statements.get(sql);
    if (entry === undefined) {
      if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.clear();
      const statement = this.raw.prepare(sql.replaceAll(BOUND_LIMIT, 'limit ? + 0'));
      entry = { statement, reads: statement.columns().length > 0 };
      this.#statements.set(sql, entry);
    }
    return entry;
  }
}

export function sqliteDb(dialect: Dialect, connection: SqliteConnection): Db {
  return bindDb(dialect, connection, {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  });
}
