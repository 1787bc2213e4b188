/** A store with rows of every table, the daemon that reads them, and what it must not touch. */
import assert from 'node:assert/strict';
import { localCaller } from '../../../../src/domain/access/caller.ts';
import { Failure } from '../../../../src/domain/failure.ts';
import { inputPlaces } from '../../../../src/faces/api/input.ts';
import { invoke } from '../../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../../src/operations/table.ts';
import { type Fixture, openFixture } from '../../../support/fixtures/installation.ts';
import { type Canaries, placeCanaries } from './canaries.ts';
import { fill, FLAGS } from './content.ts';
import { type FailedPass, type Passes, passesOf } from './passes.ts';
import { type Column, columnsOf, readRows, restoreRows, type Row, type Rows } from './tables.ts';

/** A job that runs `true`, on a machine that is busy with other tests. */
const GOOD_JOB_MS = 60_000;
const LOOK_EVERY_MS = 5;
const ENDS = new Set(['succeeded', 'failed', 'degraded', 'cancelled', 'interrupted']);
/** These ask other machines, or programs of this one, whatever the store says. */
const NOT_READ = new Set(['doctor', 'check.probe']);

const READS = OPERATIONS.filter(
  (operation) => operation.effect === 'read' && !('waits' in operation) && !NOT_READ.has(operation.id),
);

export interface World {
  readonly fixture: Fixture;
  readonly columns: readonly Column[];
  readonly rows: Rows;
  readonly canaries: Canaries;
  readonly passes: Passes;
  /** Failures of loops since the last look that no pass by hand has answered: of jobs, pages and probes. */
  readonly failures: FailedPass[];
  /** Promises of this process that were rejected, and that nothing waited for. */
  readonly unhandled: unknown[];
  close(): Promise<void>;
}

/** Ended where it cannot be filled. */
export async function openWorld(postgres: boolean): Promise<World> {
  const endings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of endings.toReversed()) await step();
  };
  try {
    return { ...(await fillWorld(postgres, endings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fillWorld(postgres: boolean, endings: (() => Promise<void>)[]): Promise<Omit<World, 'close'>> {
  const fixture = await openFixture({ after: (step) => void endings.push(step) }, { postgres });
  const passes = await passesOf(() => fixture.serve(FLAGS));
  const columns = await columnsOf(fixture.store);
  await fill(fixture, columns);
  const canaries = placeCanaries(fixture.dir);
  endings.push(async () => canaries.end());
  const [failures, unhandled]: [FailedPass[], unknown[]] = [[], []];
  passes.deps.signals.on('loop:failed', (failed) => void failures.push(failed));
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  endings.push(async () => void process.removeListener('unhandledRejection', onUnhandled));
  const rows = await readRows(fixture.store, columns);
  return { fixture, columns, rows, canaries, passes, failures, unhandled };
}

/** Puts all rows back, once no job runs. */
export async function restore({ fixture, columns, rows, passes }: World): Promise<void> {
  await until('no job runs', () => Promise.resolve(passes.deps.work.running === 0));
  await restoreRows(fixture.store, columns, rows);
}

/** A job that is asked for now runs to its end by further passes. */
export async function requireGoodJob({ fixture, passes }: World): Promise<void> {
  const { job_id: id } = await fixture.call<{ job_id: string }>('command.run', {
    inventory: 'localhost',
    command: ['true'],
  });
  await until(`the job ${id} has ended`, async () => {
    await passes.all();
    return ENDS.has((await fixture.row(id)).state);
  });
  const { state, reason } = await fixture.row(id);
  assert.equal(state, 'succeeded', reason ?? '');
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const ends = performance.now() + GOOD_JOB_MS;
  while (!(await holds())) {
    if (performance.now() > ends) throw new Error(`${what}: not within ${GOOD_JOB_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Calls every operation that reads, with nothing and with what names the row. Answers those that did not refuse. */
export async function readAll({ fixture }: World, row: Row): Promise<FailedPass[]> {
  const failed: FailedPass[] = [];
  const runtime = { store: fixture.store, services: fixture.services };
  for (const operation of READS) {
    const { http } = operation;
    const path = 'none' in http ? [] : inputPlaces(operation, http).path;
    const names = ['id', 'name', ...path].filter((name) => name in operation.input.shape);
    const key = row['id'] ?? row['name'] ?? row['job_id'];
    try {
      const raw = Object.fromEntries(names.map((name) => [name, key]));
      const answer = await invoke(runtime, operation, { caller: localCaller('fuzz'), raw });
      if (answer.shape === 'batches') await Array.fromAsync(answer.body);
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'internal') failed.push({ name: operation.id, error });
    }
  }
  return failed;
}
