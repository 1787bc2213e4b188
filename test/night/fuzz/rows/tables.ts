/** The tables of a store and their rows, as the schema of the database itself says. */
import { zstdCompressSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Store } from '../../../../src/store/store.ts';

/** Written by migrations alone, and read before there is a daemon. */
const NOT_FUZZED = new Set(['schema_migrations']);

export interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: 'text' | 'number' | 'bytes';
  readonly isNullable: boolean;
}

export type Row = Readonly<Record<string, unknown>>;
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** Every column, sorted: those of a new table or column come in by themselves. */
export async function columnsOf({ db }: Store): Promise<readonly Column[]> {
  const tables = await db.introspection.getTables();
  return tables
    .filter(({ name }) => !NOT_FUZZED.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name: table, columns }) =>
      columns
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, dataType, isNullable }) => ({ table, name, type: typeOf(dataType), isNullable })),
    );
}

function typeOf(dataType: string): Column['type'] {
  if (/text|char/i.test(dataType)) return 'text';
  return /blob|bytea/i.test(dataType) ? 'bytes' : 'number';
}

export function tablesOf(columns: readonly Column[]): string[] {
  return [...new Set(columns.map(({ table }) => table))];
}

/** All rows, in an order that does not depend on the file. */
export async function readRows({ db }: Pick<Store, 'db'>, columns: readonly Column[]): Promise<Rows> {
  const rows = new Map<string, readonly Row[]>();
  for (const table of tablesOf(columns)) rows.set(table, await readTable(db, table));
  return rows;
}

async function readTable(db: Store['db'], table: string): Promise<readonly Row[]> {
  const found = (await sql<Row>`select * from ${sql.table(table)}`.execute(db)).rows;
  return found
    .map((row) => ({ row, text: textOf(row) }))
    .toSorted(byText)
    .map(({ row }) => row);
}

const byText = (a: { text: string }, b: { text: string }): number => (a.text < b.text ? -1 : 1);

function textOf(row: Row): string {
  return JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Puts back what differs, in one transaction. */
export async function restoreRows(store: Store, columns: readonly Column[], kept: Rows): Promise<void> {
  await store.write(async ({ db }) => {
    const differ: string[] = [];
    // By name, sessions come before the tokens that they belong to, and go with them.
    for (const table of tablesOf(columns)) {
      const isOther = await differs(db, table, kept);
      if (isOther || (table === 'sessions' && (await differs(db, 'tokens', kept)))) differ.push(table);
    }
    for (const table of differ) await sql`delete from ${sql.table(table)}`.execute(db);
    for (const table of differ.toReversed()) for (const row of kept.get(table) ?? []) await insertRow(db, table, row);
  });
}

/** One with a number that cannot be read does, too. */
async function differs(db: Store['db'], table: string, kept: Rows): Promise<boolean> {
  const now = await readTable(db, table).catch((error: unknown) => {
    if (isOutOfRange(error)) return null;
    throw error;
  });
  return now === null || joined(now) !== joined(kept.get(table) ?? []);
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof Error && /too large|out of range/i.test(error.message);
}

function joined(rows: readonly Row[]): string {
  return rows.map(textOf).join('\n');
}

async function insertRow(db: Store['db'], table: string, row: Row): Promise<void> {
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(db);
}

/**
 * Gives each table without a row one, where its constraints take it: `known` has values by column, or by table and
 * column. Answers the tables that are empty still.
 */
export async function fillEmpty(
  store: Store,
  columns: readonly Column[],
  known: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const rows = await readRows(store, columns);
  const left: string[] = [];
  for (const table of tablesOf(columns)) {
    if ((rows.get(table) ?? []).length > 0) continue;
    const needed = columns.filter((column) => column.table === table && !column.isNullable);
    const row = Object.fromEntries(
      needed.map(({ name, type }) => [name, known[`${table}.${name}`] ?? known[name] ?? FILLING[type]]),
    );
    await store.write(({ db }) => insertRow(db, table, row)).catch(() => left.push(table));
  }
  return left;
}

const FILLING: Readonly<Record<Column['type'], unknown>> = { text: 'x', number: 1, bytes: zstdCompressSync('[]') };
