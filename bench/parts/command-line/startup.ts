import { prepareDataDir } from '../../../src/config/data-dir.ts';
import { runMs, withEmptyProgram, withLeastServer } from '../../floors/programs.ts';
import type { Bench } from '../../kit/bench.ts';
import { startBare, startDaemon } from '../../kit/daemon.ts';
import { addJobs, filledDataDir } from '../../kit/filled.ts';
import { SVC } from '../../kit/program.ts';
import { cleanEnvironment, end, removeDir, tempDir } from '../../kit/scratch.ts';
import { inTurn } from '../../kit/statistics.ts';
import { MILLION } from '../list.ts';

async function readyMs(dataDir: string): Promise<number> {
  const { child, readyMs } = await startBare(dataDir, []);
  await end(child);
  return readyMs;
}

async function readyEmptyMs(): Promise<number> {
  const dir = tempDir('empty-data');
  try {
    return await readyMs(dir);
  } finally {
    removeDir(dir);
  }
}

/** Fills the cache of compiled code. */
async function keepCompiled(): Promise<void> {
  const daemon = await startDaemon();
  await daemon.stop();
  removeDir(daemon.dataDir);
}

const QUEUED = 100_000;

/** A cordoned data directory whose queue is long. */
async function queuedDataDir(): Promise<string> {
  const daemon = await startDaemon();
  await daemon.ask('POST', '/maintenance/cordon');
  await daemon.stop();
  const { database } = await prepareDataDir(daemon.dataDir);
  await addJobs(database, QUEUED, 'queued');
  return daemon.dataDir;
}

/** Starts with warm caches of compiled code. */
export async function startup(bench: Bench): Promise<void> {
  const filled = await filledDataDir(MILLION);
  await servers(bench, filled);
  await verbs(bench, filled);
}

async function servers({ report, quick }: Bench, filled: string): Promise<void> {
  const queued = await queuedDataDir();
  try {
    await keepCompiled();
    const starts = await withLeastServer(async (least) => {
      await least();
      return inTurn(quick ? 5 : 11, {
        least,
        empty: readyEmptyMs,
        queued: () => readyMs(queued),
        filled: () => readyMs(filled),
      });
    });
    const floor = { name: 'the least server of Node with SQLite', value: starts.least };
    const figure = { unit: 'ms', floor, goal: { ratioAtMost: 4 } } as const;
    report.add({ name: 'start to ready, new data directory', value: starts.empty, ...figure });
    report.add({ name: 'start to ready, 100,000 queued', value: starts.queued, ...figure });
    report.add({ name: 'start to ready, 1,000,000 ended', value: starts.filled, ...figure });
  } finally {
    removeDir(queued);
  }
}

async function verbs({ report, quick }: Bench, filled: string): Promise<void> {
  await runMs(SVC, ['--help']);
  const daemon = await startDaemon();
  const asOperator = { ...cleanEnvironment(), SVC_TOKEN: daemon.headers['authorization']?.split(' ')[1] };
  try {
    await withEmptyProgram(async (empty) => {
      const times = await inTurn(quick ? 5 : 15, {
        node: empty,
        help: () => runMs(SVC, ['--help']),
        version: () => runMs(SVC, ['version']),
        list: () => runMs(SVC, ['job', 'list', '--output', 'json', '--limit', '5', '--data-dir', filled]),
        remote: () =>
          runMs(SVC, ['job', 'list', '--output', 'json', '--remote', new URL(daemon.url('')).origin], asOperator),
      });
      const floor = { name: 'an empty program of Node', value: times.node };
      report.add({ name: 'svc --help', value: times.help, unit: 'ms', floor, goal: { ratioAtMost: 5 } });
      report.add({ name: 'svc version', value: times.version, unit: 'ms', floor });
      const list = { name: 'svc job list, 1,000,000 jobs', value: times.list, unit: 'ms', floor } as const;
      report.add({ ...list, goal: { ratioAtMost: 4 } });
      const remote = { name: 'svc job list, of a server', value: times.remote, unit: 'ms', floor } as const;
      report.add({ ...remote, goal: { ratioAtMost: 2.5 } });
    });
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
