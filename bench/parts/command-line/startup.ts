import { runMs, withEmptyProgram } from '../../floors/programs.ts';
import type { Bench } from '../../kit/bench.ts';
import { startBare, startDaemon } from '../../kit/daemon.ts';
import { filledDataDir } from '../../kit/filled.ts';
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

/** Starts with a warm compile cache: the first start of each is not counted. */
export async function startup({ report, quick }: Bench): Promise<void> {
  const filled = await filledDataDir(MILLION);
  await readyEmptyMs();
  await runMs(SVC, ['--help']);
  const daemon = await startDaemon();
  const asOperator = { ...cleanEnvironment(), SVC_TOKEN: daemon.headers['authorization']?.split(' ')[1] };
  try {
    await withEmptyProgram(async (empty) => {
      const starts = await inTurn(quick ? 3 : 7, { empty: readyEmptyMs, filled: () => readyMs(filled) });
      const verbs = await inTurn(quick ? 5 : 15, {
        node: empty,
        help: () => runMs(SVC, ['--help']),
        version: () => runMs(SVC, ['version']),
        list: () => runMs(SVC, ['job', 'list', '--output', 'json', '--limit', '5', '--data-dir', filled]),
        remote: () =>
          runMs(SVC, ['job', 'list', '--output', 'json', '--remote', new URL(daemon.url('')).origin], asOperator),
      });
      const floor = { name: 'an empty program of Node', value: verbs.node };
      report.add({
        name: 'start to ready, new data directory',
        value: starts.empty,
        unit: 'ms',
        floor,
        goal: { atMost: 500 },
      });
      report.add({
        name: 'start to ready, 1,000,000 jobs',
        value: starts.filled,
        unit: 'ms',
        floor,
        goal: { atMost: 1_500 },
      });
      report.add({ name: 'svc --help', value: verbs.help, unit: 'ms', floor, goal: { ratioAtMost: 5 } });
      report.add({ name: 'svc version', value: verbs.version, unit: 'ms', floor });
      const list = { name: 'svc job list, 1,000,000 jobs', value: verbs.list, unit: 'ms', floor } as const;
      report.add({ ...list, goal: { ratioAtMost: 4 } });
      const remote = { name: 'svc job list, of a server', value: verbs.remote, unit: 'ms', floor } as const;
      report.add({ ...remote, goal: { ratioAtMost: 2.5 } });
    });
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
