import { processesOf } from '../../../test/support/fixtures/installation.ts';
import type { Bench } from '../../kit/bench.ts';
import { queueCommand, startBare, startDaemon } from '../../kit/daemon.ts';
import { end, removeDir, tempDir } from '../../kit/scratch.ts';
import { monotonicMs, sleep } from '../../kit/time.ts';

const JOBS = 8;
const LOOK_MS = 20;
const LIMIT_MS = 60_000;
const FLAGS = ['--max-jobs', String(JOBS)];

const PLAIN = ['/bin/sleep', '600'];
/** Ignores the request to end. */
const DEAF = ['/bin/sh', '-c', "trap '' TERM; while :; do sleep 600; done"];

/** Kills the daemon under jobs and starts it again: until the jobs are interrupted and their processes are gone. */
export async function crash({ report, quick }: Bench): Promise<void> {
  const plain = await longest(PLAIN, quick ? 2 : 10);
  const note = `from ready, longest of ${quick ? 2 : 10} starts after kill -9`;
  report.add({ name: `${JOBS} jobs interrupted and dead`, value: plain, unit: 'ms', note, goal: { atMost: 2_000 } });
  const deaf = await longest(DEAF, quick ? 1 : 3);
  report.add({ name: 'the same with jobs that ignore SIGTERM', value: deaf, unit: 'ms', goal: { atMost: 15_000 } });
}

async function longest(command: readonly string[], rounds: number): Promise<number> {
  let most = 0;
  for (let n = 0; n < rounds; n += 1) most = Math.max(most, await round(command));
  return most;
}

async function round(command: readonly string[]): Promise<number> {
  const dataDir = tempDir('crash');
  const first = await startDaemon({ dataDir, flags: FLAGS });
  const ids: string[] = [];
  for (let n = 0; n < JOBS; n += 1) ids.push(await queueCommand(first, command));
  const wanted = new Set(ids);
  await until(() => Promise.resolve(processesOf(wanted).length >= JOBS));
  await first.kill();
  const second = await startBare(dataDir, FLAGS);
  const readyAt = monotonicMs();
  const list = `${second.webUrl}/api/v1/maintenance/interrupted`;
  try {
    await until(async () => (await interrupted(list, first.headers)) === JOBS && processesOf(wanted).length === 0);
    return monotonicMs() - readyAt;
  } finally {
    await end(second.child);
    removeDir(dataDir);
  }
}

async function interrupted(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { data } = (await (await fetch(url, { headers })).json()) as { data: unknown[] };
  return data.length;
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = monotonicMs() + LIMIT_MS;
  while (!(await isDone())) {
    if (monotonicMs() > deadline) throw new Error(`it took more than ${LIMIT_MS} ms`);
    await sleep(LOOK_MS);
  }
}
