import { type ClientBase, type QueryResult as Answer, TypeOverrides, types as builtin } from 'pg';
import { type QueryResult, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { bindDb, type Statement, type StatementConnection } from '../bound.ts';
import type { Dialect } from '../dialect.ts';
import type { Connections } from './connections.ts';
import type { Db } from '../../schema/schema.ts';

/**
 * Statements with parameters are named, so that the server parses and plans each once for a connection (measured:
 * unnamed gets run at 0.45 of the rate). The server keeps a plan for each, so their number has an end.
 */
const NAMED_MAX = 300;
const NAMES = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = NAMES.get(text);
  if (known !== undefined || NAMES.size >= NAMED_MAX) return known;
  const name = `gatehouse_${NAMES.size}`;
  NAMES.set(text, name);
  return name;
}

/** Sends a statement; on a pipelined connection behind those that still run. */
export function send(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<Answer> {
  const name = values.length > 0 ? nameOf(text) : undefined;
  const config = name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
  return new Promise((resolve, reject) => {
    client.query(config, (error: Error | null, result: Answer | Answer[]) => {
      if (error !== null && error !== undefined) reject(error);
      else resolve(lastOf(result));
    });
  });
}

/** A script of several statements answers each. */
function lastOf(result: Answer | Answer[]): Answer {
  if (!Array.isArray(result)) return result;
  const last = result.at(-1);
  if (last === undefined) throw new Error('a script without a statement');
  return last;
}

const CHANGING = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function toResult<R>({ command, rowCount, rows }: Answer): QueryResult<R> {
  return CHANGING.has(command) ? { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) } : { rows: rows as R[] };
}

class Connection implements StatementConnection {
  readonly #run: (text: string, values: readonly unknown[]) => Promise<Answer>;
  constructor(run: (text: string, values: readonly unknown[]) => Promise<Answer>) {
    this.#run = run;
  }
  async executeQuery<R>(query: Statement): Promise<QueryResult<R>> {
    return toResult<R>(await this.#run(query.sql, query.parameters));
  }
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streamQuery is not used: read batches by key instead');
  }
}

const PARTS = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db: ConstructorParameters<typeof PostgresIntrospector>[0]) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

/** A query builder whose statements go to one client, in the order they are made. */
export function clientDb(dialect: Dialect, client: ClientBase): Db {
  return bindDb(dialect, new Connection((text, values) => send(client, text, values)), PARTS);
}

/** A query builder whose statements run on any free connection; `explain` converts their errors. */
export function connectionsDb(dialect: Dialect, connections: Connections, explain: (error: unknown) => unknown): Db {
  const run = async (text: string, values: readonly unknown[]): Promise<Answer> => {
    try {
      return await connections.use((client) => send(client, text, values));
    } catch (error) {
      throw explain(error);
    }
  };
  return bindDb(dialect, new Connection(run), PARTS);
}

// int8 arrives as text by default; no count or millisecond of ours leaves the range of exact numbers.
export const types = new TypeOverrides();
types.setTypeParser(builtin.builtins.INT8, Number);
