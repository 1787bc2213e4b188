import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type QueryResult, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { errorCode } from '../../../lib/error-code.ts';
import { bindDb, type Statement, type StatementConnection } from '../bound.ts';
import type { Dialect } from '../dialect.ts';
import type { Db } from '../../schema/schema.ts';
import { tableWritten } from './own-commits.ts';

/** Statements are compiled once and kept; a program asks some dozens of different ones. */
const STATEMENTS_KEPT = 500;

type Value = string | number | bigint | Uint8Array | null;

interface Kept {
  readonly statement: StatementSync;
  /** See `tableWritten`. */
  readonly writesTo: string | null;
  /** Its integers are read as bigints: one that it answered before is no exact number (T80). */
  isWide: boolean;
  /** Of its columns; none for a statement that answers no rows. */
  names: readonly string[];
}

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
export class SqliteConnection implements StatementConnection {
  readonly raw: DatabaseSync;
  /** The tables written to; the owner empties it after each transaction. */
  readonly written = new Set<string>();
  readonly #statements = new Map<string, Kept>();

  constructor(file: string, options: { readOnly: boolean }) {
    this.raw = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 0 });
  }

  executeQuery<R>({ sql, parameters }: Statement): Promise<QueryResult<R>> {
    try {
      return Promise.resolve(this.run<R>(sql, parameters as readonly Value[]));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  run<R>(sql: string, parameters: readonly Value[]): QueryResult<R> {
    const kept = this.#prepare(sql);
    if (kept.writesTo !== null) this.written.add(kept.writesTo);
    if (kept.names.length > 0) return { rows: rowsOf(kept, parameters) as R[] };
    const result = kept.statement.run(...parameters);
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

  #prepare(sql: string): Kept {
    let entry = this.#statements.get(sql);
    if (entry === undefined) {
      if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.clear();
      const statement = this.raw.prepare(sql.replaceAll(BOUND_LIMIT, 'limit ? + 0'));
      statement.setReturnArrays(true);
      entry = { statement, writesTo: tableWritten(sql), isWide: false, names: namesOf(statement) };
      this.#statements.set(sql, entry);
    }
    return entry;
  }
}

function namesOf(statement: StatementSync): string[] {
  return statement.columns().map(({ name }) => name);
}

/**
 * As plain objects of one form. V8 takes each row that Node makes for another form, so that no code is compiled for
 * them: a list of 50 jobs after a write took 1.34 ms in place of 0.93.
 */
function rowsOf(kept: Kept, parameters: readonly Value[]): Record<string, Value>[] {
  const rows = valuesOf(kept, parameters);
  // SQLite prepares `select *` again after another process has added a column, and a migration changes no other
  // columns.
  if (rows[0] !== undefined && rows[0].length !== kept.names.length) kept.names = namesOf(kept.statement);
  const { names } = kept;
  return rows.map((values) => {
    const row: Record<string, Value> = {};
    for (let i = 0; i < names.length; i += 1) row[names[i] ?? ''] = values[i] ?? null;
    return row;
  });
}

/**
 * Node answers no row at all where one has an integer that a number does not hold exactly. No service writes one;
 * somebody else may. Then each is the nearest number, as on PostgreSQL, so that the reader of the rows finds the one
 * that is out of form. A statement that writes fails once, with its transaction, and is right when it runs again.
 */
function valuesOf(kept: Kept, parameters: readonly Value[]): readonly (readonly Value[])[] {
  if (kept.isWide) return wideValuesOf(kept, parameters);
  try {
    return kept.statement.all(...parameters) as unknown as readonly Value[][];
  } catch (error) {
    if (errorCode(error) !== 'ERR_OUT_OF_RANGE') throw error;
    setWide(kept, true);
    if (kept.writesTo !== null) throw error;
    return wideValuesOf(kept, parameters);
  }
}

function wideValuesOf(kept: Kept, parameters: readonly Value[]): readonly (readonly Value[])[] {
  const rows = kept.statement.all(...parameters) as unknown as readonly Value[][];
  let isNeeded = false;
  const numbers = rows.map((values) =>
    values.map((value) => {
      if (typeof value !== 'bigint') return value;
      const nearest = Number(value);
      isNeeded ||= !Number.isSafeInteger(nearest);
      return nearest;
    }),
  );
  if (!isNeeded) setWide(kept, false);
  return numbers;
}

function setWide(kept: Kept, isWide: boolean): void {
  kept.isWide = isWide;
  kept.statement.setReadBigInts(isWide);
}

/** A statement that answers one number, as a function. The array that it answers costs a third of an object. */
export function numberOf(raw: DatabaseSync, sql: string): () => number {
  const statement = raw.prepare(sql);
  statement.setReturnArrays(true);
  return () => (statement.get() as unknown as [number])[0];
}

export function sqliteDb(dialect: Dialect, connection: SqliteConnection): Db {
  return bindDb(dialect, connection, {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  });
}
