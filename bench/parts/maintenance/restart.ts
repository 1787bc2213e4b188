import { dirname, join } from 'node:path';
import { BUNDLE } from '../../../scripts/bundle.ts';
import { copyProgram } from '../../../test/support/restart/program-copy.ts';
import { type LoadResult, startLoad } from '../../../test/support/restart/steady-load.ts';
import type { Bench } from '../../kit/bench.ts';
import { type Daemon, getData, startDaemon } from '../../kit/daemon.ts';
import { removeDir, tempDir } from '../../kit/scratch.ts';
import { sleep } from '../../kit/time.ts';

const PER_SECOND = 200;
const LOOK_MS = 100;
/** Requests go on for this long after each restart, in milliseconds. */
const AFTER_MS = 2_000;
const [OK, UNAVAILABLE] = [200, 503];

/** Restarts the daemon in place under load, each time with another build. */
export async function restart({ report, quick }: Bench): Promise<void> {
  const home = tempDir('program');
  const program = copyProgram(join(home, 'installed'), BUNDLE);
  const daemon = await startDaemon({ svc: join(dirname(dirname(program.main)), 'bin', 'svc') });
  const runs: LoadResult[] = [];
  try {
    for (let i = 0; i < (quick ? 3 : 12); i += 1) {
      const version = `0.1.0-build${i}`;
      await ask(daemon);
      program.install(version);
      runs.push(await loaded(daemon, () => restartInto(daemon, version)));
    }
  } finally {
    await daemon.stop();
    for (const each of [daemon.dataDir, home]) removeDir(each);
  }
  const pauses = runs.map(({ longestPauseMs }) => longestPauseMs).toSorted((a, b) => a - b);
  const sent = runs.reduce((sum, run) => sum + run.sent, 0);
  const failed = runs.flatMap(({ failures }) => failures).length;
  const note = `${runs.length} restarts at ${PER_SECOND} requests/s`;
  const [middle, longest] = [pauses[Math.floor(pauses.length / 2)] ?? 0, pauses.at(-1) ?? 0];
  report.add({ name: 'pause without an answer, median', value: middle, unit: 'ms', note });
  report.add({ name: 'pause without an answer, longest', value: longest, unit: 'ms', goal: { atMost: 1_000 } });
  report.add({ name: `requests that failed, of ${sent}`, value: failed, unit: '', goal: { atMost: 0 } });
}

async function loaded(daemon: Daemon, work: () => Promise<void>): Promise<LoadResult> {
  const token = daemon.headers['authorization']?.replace('Bearer ', '') ?? '';
  const load = startLoad(daemon.url('/jobs?limit=1'), token, PER_SECOND);
  try {
    await work();
    await sleep(AFTER_MS);
  } catch (error) {
    await load.stop();
    throw error;
  }
  return load.stop();
}

/** Asks until the daemon knows which program it runs; the result is the status of its answer. */
async function ask(daemon: Daemon): Promise<number> {
  for (;;) {
    const { status } = await daemon.ask('POST', '/maintenance/restart', {});
    if (status !== UNAVAILABLE) return status;
    await sleep(LOOK_MS);
  }
}

async function restartInto(daemon: Daemon, version: string): Promise<void> {
  const status = await ask(daemon);
  if (status !== OK) throw new Error(`the restart was refused with ${status}`);
  for (;;) {
    const { server } = await getData<{ server: { version: string } }>(daemon, '/whoami');
    if (server.version === version) return;
    const { state, reason } = await getData<{ state: string; reason: string }>(daemon, '/maintenance/restart');
    if (state === 'aborted') throw new Error(`the restart was aborted: ${reason}`);
    await sleep(LOOK_MS);
  }
}
