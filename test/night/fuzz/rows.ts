/**
 * What a daemon reads of its database: every column of every table, with hostile values. The passes go on, a job that
 * is asked for afterwards runs, reads answer again once the row is put back, and nothing outside the run directories
 * is touched.
 */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { Failure } from '../../../src/domain/failure.ts';
import { type Column, type Row } from './rows/tables.ts';
import { cellOf, type RowValue, rowValues } from './rows/values.ts';
import { openWorld, readAll, requireGoodJob, restore, type World } from './rows/world.ts';
import { type FuzzTarget, fuzzTarget } from './target.ts';

/** Values of one round: each has a job that runs. */
const ROUND_RUNS = 4;
/** The passes and the job of one value, in milliseconds of processor time. */
const BASE_MS = 30_000;
/** Of a value in a message. */
const SHOWN_CHARACTERS = 200;

/**
 * Rows that may stop all jobs for as long as they have the value, and why. The passes need not succeed then; once the
 * row is put back, they do.
 */
const STOPPING: Readonly<Record<string, string>> = {
  cordon: 'a cordon holds all jobs',
  node_cordons: 'the same, for one daemon',
  chains: 'nothing is written that the ledger cannot take',
  ledger: 'the same',
  seal: 'nothing is written with another key than that of the store',
};

/** A message that cannot be made of its row is reported so, and counts as one failed try of this delivery alone. */
const OF_ONE_DELIVERY = 'page';

/** Where the value is written; null where the table has no row that it may be written to. */
interface Cell {
  readonly column: Column;
  readonly row: Row;
  readonly value: unknown;
}

function cellFor({ columns, rows, canaries, passes }: World, value: RowValue): Cell | null {
  const column = columns[value.column % columns.length] ?? assert.fail('no columns');
  // The own row of the daemon is what its lease is about: a daemon that loses it is no daemon.
  const candidates = (rows.get(column.table) ?? []).filter(
    (row) => column.table !== 'daemons' || row['id'] !== passes.deps.self(),
  );
  const row = candidates[value.row % Math.max(candidates.length, 1)];
  if (row === undefined) return null;
  return { column, row, value: cellOf(value, column.type, row[column.name], canaries) };
}

/** Whether the database took the value. */
async function write({ fixture }: World, { column, row, value }: Cell): Promise<boolean> {
  const isRow = Object.entries(row).map(([name, own]) =>
    own === null ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} = ${own}`,
  );
  try {
    const set = sql`update ${sql.table(column.table)} set ${sql.ref(column.name)} = ${value}`;
    await fixture.store.write(({ db }) => sql`${set} where ${sql.join(isRow, sql` and `)}`.execute(db));
    return true;
  } catch {
    return false;
  }
}

async function check(world: World, value: RowValue): Promise<void> {
  await restore(world);
  world.failures.length = 0;
  const cell = cellFor(world, value);
  if (cell === null || !(await write(world, cell))) return;
  const where = `${cell.column.table}.${cell.column.name} = ${String(cell.value).slice(0, SHOWN_CHARACTERS)}`;
  const failed = await world.passes.all();
  // A read of such a row may fail, as `internal` too: a view shows nothing that has not its form.
  await readAll(world, { ...cell.row, [cell.column.name]: cell.value });
  world.canaries.check();
  if (!(cell.column.table in STOPPING)) {
    const later = world.failures.filter(({ name }) => name !== OF_ONE_DELIVERY);
    const faults = [...failed, ...later].filter(({ error }) => !(error instanceof Failure));
    assert.deepEqual(faults.map(textOf), [], where);
    await goodJob(world, where);
  }
  await restore(world);
  const still = await readAll(world, cell.row);
  assert.deepEqual(still.map(textOf), [], `after ${where}`);
  if (cell.column.table in STOPPING) await goodJob(world, `after ${where}`);
  world.canaries.check();
  assert.deepEqual(world.unhandled.splice(0), [], where);
}

async function goodJob(world: World, where: string): Promise<void> {
  await requireGoodJob(world).catch((error: unknown) => assert.fail(`${where}: ${String(error)}`));
}

function textOf({ name, error }: { name: string; error: unknown }): string {
  return `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

function rowsTarget(name: string, postgres: boolean): FuzzTarget {
  let world: Promise<World> | undefined;
  const target = fuzzTarget(
    name,
    rowValues,
    async (value) => {
      world ??= openWorld(postgres);
      await check(await world, value);
    },
    { baseMs: BASE_MS, perCharacterMs: 0 },
    ROUND_RUNS,
  );
  return {
    ...target,
    async close() {
      const open = world;
      world = undefined;
      // One that could not be opened has ended itself.
      await (await open?.catch(() => undefined))?.close();
    },
  };
}

export const ROW_TARGETS: readonly FuzzTarget[] = [
  rowsTarget('rows-sqlite', false),
  rowsTarget('rows-postgresql', true),
];
