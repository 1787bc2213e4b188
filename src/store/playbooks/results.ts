import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import type { HostResult, PlaybookResults, TaskOfRun } from '../../domain/playbooks/results.ts';
import { insertRow, rowBy } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, PlaybookHostsRow, PlaybookRunRow } from '../schema/schema.ts';

const compress = promisify(zstdCompress);

/** Hosts of a block: with 2,000 tasks each, a block has at most 0.7 MB before compression. */
const BLOCK_HOSTS = 200;

/** More than a block or the tasks of a run have. A row that somebody wrote can hold gigabytes in some kilobytes. */
const BYTES_MAX = 32 * 1024 * 1024;

interface StoredResults {
  readonly run: Omit<PlaybookRunRow, 'job_id'>;
  readonly blocks: readonly Omit<PlaybookHostsRow, 'job_id'>[];
}

/** Encodes results, before the transaction that stores them: 10,000 hosts take some 100 ms. */
export async function encodeResults(results: PlaybookResults): Promise<StoredResults> {
  const { hosts, tasks, hostsCut, tasksCut } = results;
  const blocks: { first: number; data: Uint8Array }[] = [];
  for (let first = 0; first < hosts.length; first += BLOCK_HOSTS)
    blocks.push({ first, data: await encoded(hosts.slice(first, first + BLOCK_HOSTS)) });
  const run = {
    hosts: hosts.length,
    hosts_cut: hostsCut,
    tasks: tasks.length,
    tasks_cut: tasksCut,
    data: await encoded(tasks),
  };
  return { run, blocks };
}

/** Stores what a run reported, in the transaction of its end. */
export async function insertResults(tx: Tx, jobId: string, { run, blocks }: StoredResults): Promise<void> {
  await insertRow(tx.db, 'playbook_runs', { job_id: jobId, ...run });
  for (const block of blocks) await insertRow(tx.db, 'playbook_hosts', { job_id: jobId, ...block });
}

const findRun = rowBy('playbook_runs', 'job_id');

interface RunTasks extends Omit<PlaybookRunRow, 'data' | 'tasks'> {
  readonly tasks: readonly TaskOfRun[];
}

/** The tasks of a run; undefined where it stored no results. */
export async function findRunTasks(db: Db, jobId: string): Promise<RunTasks | undefined> {
  const row = await findRun(db, jobId);
  if (row === undefined) return undefined;
  const { data, ...counts } = row;
  return { ...counts, tasks: decoded(data) as TaskOfRun[] };
}

/** The hosts of a run by name, with their cells, a block at a time. */
export async function* readHosts(db: Db, jobId: string): AsyncGenerator<readonly HostResult[]> {
  for (let first = 0; ; first += BLOCK_HOSTS) {
    const row = await db
      .selectFrom('playbook_hosts')
      .select('data')
      .where('job_id', '=', jobId)
      .where('first', '=', first)
      .executeTakeFirst();
    if (row === undefined) return;
    yield decoded(row.data) as HostResult[];
  }
}

function encoded(value: unknown): Promise<Uint8Array> {
  return compress(Buffer.from(JSON.stringify(value)));
}

function decoded(data: Uint8Array): unknown {
  return JSON.parse(zstdDecompressSync(data, { maxOutputLength: BYTES_MAX }).toString('utf8'));
}
