/** A data directory with many jobs in it, made once for all parts that want one. */
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { prepareDataDir } from '../../src/config/data-dir.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { TEST_RING, testKeyring } from '../../test/support/seal.ts';
import { tagOf } from '../../src/store/engine/tags/tags.ts';
import { openStore } from '../../src/store/store.ts';
import { passableTempDir, removeDir } from './scratch.ts';
import { monotonicMs } from './time.ts';

/** Rows of one insert: 19 values each, and SQLite takes 32,766. */
const ROWS_PER_INSERT = 1_000;
const ORDER_COLUMNS = [
  'id',
  'kind',
  'state',
  'initial_state',
  'runbook',
  'trigger',
  'created_at',
  'started_at',
  'finished_at',
  'exit_code',
  'requested_by',
  'owners',
  'spec',
  'timeout_ms',
  'daemon_id',
  'lease_generation',
  'outcome_event_id',
] as const;
const COLUMNS = [...ORDER_COLUMNS, 'order_tag', 'order_key_id'];

export const SPEC = JSON.stringify({ inventory: 'localhost', limit: null, command: ['/bin/true'], egressPorts: [] });
/** Their ends are marked as reported: otherwise the daemon would make a million events while it is measured. */
const REPORTED = '';
const MS_PER_JOB = 1_000;

/** How jobs ended, as shares of 100: most of them well. */
function stateOf(index: number): 'succeeded' | 'failed' | 'cancelled' | 'interrupted' {
  const at = index % 100;
  if (at === 13) return 'cancelled';
  if (at === 57) return 'interrupted';
  return at % 20 === 7 ? 'failed' : 'succeeded';
}

function endedRow(index: number, createdAt: number, runbook: string): SQLInputValue[] {
  const state = stateOf(index);
  const exitCode = state === 'succeeded' ? 0 : 1;
  const id = newId('job', createdAt);
  return [
    id,
    'command',
    state,
    'queued',
    runbook,
    'api',
    createdAt,
    createdAt + 5,
    createdAt + 900,
    exitCode,
    'ci',
    '["ci"]',
    SPEC,
    60_000,
    'dmn_old',
    1,
    REPORTED,
  ];
}

function queuedRow(createdAt: number, runbook: string): SQLInputValue[] {
  const id = newId('job', createdAt);
  return [
    id,
    'command',
    'queued',
    'queued',
    runbook,
    'api',
    createdAt,
    null,
    null,
    null,
    'ci',
    '["ci"]',
    SPEC,
    60_000,
    null,
    0,
    null,
  ];
}

function tagged(values: readonly SQLInputValue[]): SQLInputValue[] {
  const row = Object.fromEntries(ORDER_COLUMNS.map((column, at) => [column, values[at]]));
  // The other columns are null, which an absent one stands for.
  const { order_tag: tag, order_key_id: keyId } = tagOf(TEST_RING, 'jobs', { privileged: 0, ...row } as never);
  return [...values, tag, keyId];
}

/** The name of one of `runbooks` runbooks. */
export function runbookOf(index: number, runbooks: number): string {
  return runbooks === 1 ? 'command:localhost' : `command:group${index % runbooks}`;
}

/**
 * Makes the file with its schema, if need be, and adds `count` jobs of `runbooks` runbooks in inserts of many rows,
 * oldest first.
 */
export async function addJobs(file: string, count: number, state: 'ended' | 'queued', runbooks = 1): Promise<void> {
  const store = await openStore({
    location: { file },
    clock: systemClock,
    daemonId: 'dmn_bench',
    keyring: testKeyring,
  });
  await store.close();
  const db = new DatabaseSync(file);
  try {
    // A failure of the machine only means that it is made again, so nothing has to be flushed.
    db.exec('pragma synchronous = off; pragma cache_size = -262144');
    const holes = `(${COLUMNS.map(() => '?').join(',')})`;
    const insert = (rows: number) =>
      db.prepare(`insert into jobs (${COLUMNS.join(',')}) values ${Array(rows).fill(holes).join(',')}`);
    const many = insert(ROWS_PER_INSERT);
    const startAt = Date.now() - count * (state === 'ended' ? MS_PER_JOB : 1);
    db.exec('begin');
    for (let done = 0; done < count; done += ROWS_PER_INSERT) {
      const rows = Math.min(ROWS_PER_INSERT, count - done);
      const values = Array.from({ length: rows }, (_, i) => {
        const index = done + i;
        const runbook = runbookOf(index, runbooks);
        return tagged(
          state === 'ended'
            ? endedRow(index, startAt + index * MS_PER_JOB, runbook)
            : queuedRow(startAt + index, runbook),
        );
      });
      (rows === ROWS_PER_INSERT ? many : insert(rows)).run(...values.flat());
    }
    db.exec('commit; pragma wal_checkpoint(truncate)');
  } finally {
    db.close();
  }
}

let filled: { readonly dataDir: string; readonly jobs: number } | null = null;

/** A data directory with `jobs` ended jobs. The first call makes it. */
export async function filledDataDir(jobs: number): Promise<string> {
  if (filled?.jobs === jobs) return filled.dataDir;
  removeFilled();
  const dataDir = passableTempDir('filled');
  const before = monotonicMs();
  const { database } = await prepareDataDir(join(dataDir, 'data'));
  await addJobs(database, jobs, 'ended');
  process.stdout.write(
    `  (${jobs.toLocaleString('en-US')} jobs made in ${((monotonicMs() - before) / 1000).toFixed(0)} s)\n`,
  );
  filled = { dataDir: join(dataDir, 'data'), jobs };
  return filled.dataDir;
}

export function removeFilled(): void {
  if (filled !== null) removeDir(join(filled.dataDir, '..'));
  filled = null;
}
