import { join } from 'node:path';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres/postgres.ts';
import type { Bench } from '../kit/bench.ts';
import { openChild, runChild } from '../kit/child.ts';
import { getData, queueCommand, startDaemon, type Daemon } from '../kit/daemon.ts';
import { load } from '../kit/load.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { inTurn, median } from '../kit/statistics.ts';
import { monotonicMs, until } from '../kit/time.ts';
import { WARM_UP_JOBS, workOff } from '../kit/work-off.ts';

const MANY = 16;
/** Of each of the daemons that share a PostgreSQL: the default of --max-jobs. The one on SQLite has as many in all. */
const SLOTS = 8;
const BODY = JSON.stringify({ inventory: 'localhost', command: ['/bin/true'] });

async function database(server: PostgresServer, name: string): Promise<string> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function enqueues({ report, quick }: Bench, server: PostgresServer): Promise<void> {
  const durationMs = quick ? 1_500 : 3_000;
  const ours = await database(server, 'ours');
  const theirs = await database(server, 'theirs');
  const dir = tempDir('enqueuer');
  const daemon = await startDaemon({ databaseUrl: ours });
  const local = openChild<number>('children/enqueuer.ts');
  try {
    await daemon.ask('POST', '/maintenance/cordon');
    await local.ask({ do: 'open', dataDir: dir, databaseUrl: ours, sealKeyFile: join(daemon.dataDir, 'seal.key') });
    const request = { method: 'POST', url: daemon.url('/commands/run'), headers: daemon.headers, body: BODY };
    const rates = await inTurn(quick ? 1 : 3, {
      graphile: () => runChild<number>('floors/graphile.ts', { url: theirs, callers: MANY, durationMs }),
      http: async () => (await load({ request, clients: MANY, durationMs, warmUpMs: 500 }, 202)).perSecond,
      called: () => local.ask({ do: 'many', callers: MANY, durationMs }),
    });
    const floor = { name: "graphile-worker's addJob, 16 callers in one process", value: rates.graphile };
    report.add({
      name: 'PostgreSQL: enqueues over HTTP, 16 clients',
      value: rates.http,
      unit: '/s',
      floor,
      goal: { ratioAtLeast: 2 },
    });
    report.add({
      name: 'PostgreSQL: enqueues without HTTP, 16 callers in one process',
      value: rates.called,
      unit: '/s',
      floor,
    });
  } finally {
    await Promise.all([daemon.stop(), local.end()]);
    removeDir(dir);
    removeDir(daemon.dataDir);
  }
}

/** Jobs that do nothing, from the queue to their end, with as many slots in all. */
async function wholeJobs({ report, quick }: Bench, server: PostgresServer): Promise<void> {
  const count = quick ? 300 : 600;
  const databaseUrl = await database(server, 'whole');
  const flags = ['--max-jobs', String(SLOTS)];
  const first = await startDaemon({ databaseUrl, flags });
  const second = await startDaemon({ databaseUrl, flags, sealKeyFile: join(first.dataDir, 'seal.key') });
  const alone = await startDaemon({ flags: ['--max-jobs', String(2 * SLOTS)] });
  const usedMs = { two: [] as number[], one: [] as number[] };
  const measure = async (who: keyof typeof usedMs): Promise<number> => {
    const worked = await workOff(who === 'two' ? [first, second] : [alone], 2 * SLOTS, count);
    usedMs[who].push(worked.usedMs / count);
    return count / (worked.ms / 1000);
  };
  try {
    await workOff([first, second], 2 * SLOTS, 2 * WARM_UP_JOBS);
    await workOff([alone], 2 * SLOTS, WARM_UP_JOBS);
    const rates = await inTurn(quick ? 3 : 5, { one: () => measure('one'), two: () => measure('two') });
    const failed = await Promise.all(
      [first, alone].map((each) => getData<unknown[]>(each, '/jobs?state=failed&limit=1')),
    );
    if (failed.flat().length > 0) throw new Error(`a job failed: ${JSON.stringify(failed)}`);
    report.add({
      name: `PostgreSQL: no-op jobs from the queue to their end, 2 daemons of ${SLOTS} slots`,
      value: rates.two,
      unit: '/s',
      floor: { name: `one daemon on SQLite, ${2 * SLOTS} slots`, value: rates.one },
      goal: { ratioAtLeast: 0.7 },
    });
    report.add({
      name: 'the same: processor of the daemons per job',
      value: median(usedMs.two),
      unit: 'ms',
      floor: { name: 'the daemon on SQLite', value: median(usedMs.one) },
    });
  } finally {
    await Promise.all([first.stop(), second.stop(), alone.stop()]);
    for (const { dataDir } of [first, second, alone]) removeDir(dataDir);
  }
}

async function stateOf(daemon: Daemon, jobId: string): Promise<string> {
  return (await getData<{ state: string }>(daemon, `/jobs/${jobId}`)).state;
}

/** From the kill of a daemon until another one has ended its job in the records. */
async function takeover({ report, quick }: Bench, server: PostgresServer): Promise<void> {
  const databaseUrl = await database(server, 'takeover');
  const lease = quick ? '5s' : '15s';
  const flags = ['--lease', lease];
  const first = await startDaemon({ databaseUrl, flags });
  const second = await startDaemon({ databaseUrl, flags, sealKeyFile: join(first.dataDir, 'seal.key') });
  try {
    // Either daemon may have claimed it: the records say which.
    const jobId = await queueCommand(first, ['/bin/sleep', '600']);
    await until('the job runs', 10_000, 50, async () => (await stateOf(first, jobId)) === 'running');
    const ran = await runsOn(server, 'takeover', jobId);
    const [dying, living] = ran === first.pid ? [first, second] : [second, first];
    const before = monotonicMs();
    await dying.kill();
    await until('the job is taken over', 60_000, 50, async () => (await stateOf(living, jobId)) === 'interrupted');
    const seconds = (monotonicMs() - before) / 1000;
    report.add({
      name: `PostgreSQL: takeover after the death of a daemon, lease ${lease}`,
      value: seconds,
      unit: 's',
      goal: { atMost: 20 },
    });
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    removeDir(first.dataDir);
    removeDir(second.dataDir);
  }
}

async function runsOn(server: PostgresServer, name: string, jobId: string): Promise<number> {
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    const text = 'select d.pid from jobs j join daemons d on d.id = j.daemon_id where j.id = $1';
    return Number((await client.query<{ pid: number }>(text, [jobId])).rows[0]?.pid);
  } finally {
    await client.end();
  }
}

/** The same daemon on a separate PostgreSQL, beside a queue that is made for it. */
export async function postgres(bench: Bench): Promise<void> {
  const server = await startPostgres();
  try {
    await enqueues(bench, server);
    await wholeJobs(bench, server);
    await takeover(bench, server);
  } finally {
    await server.stop();
  }
}
