import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { createLauncherPool, type LauncherPool } from '../../src/runners/sandbox/pool.ts';
import { spawnOnce, type SpawnTimes } from '../floors/programs.ts';
import type { Bench } from '../kit/bench.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep } from '../kit/time.ts';

const TOOL = '/bin/echo';
const SETTLE_MS = 30;

async function launchOnce(pool: LauncherPool, cwd: string): Promise<SpawnTimes> {
  const before = monotonicMs();
  const launched = await pool.launch({
    argv: [TOOL, 'x'],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    cwd,
    policy: { readable: [], writable: [cwd], connectPorts: [22] },
  });
  const times = { startedMs: Number.NaN, firstByteMs: Number.NaN };
  const firstByte = new Promise<void>((resolve) => {
    launched.stdout.once('data', () => {
      times.firstByteMs = monotonicMs() - before;
      resolve();
    });
  });
  launched.stderr.resume();
  await launched.started;
  times.startedMs = monotonicMs() - before;
  await Promise.all([firstByte, launched.exited]);
  return times;
}

async function samples(
  count: number,
  pool: LauncherPool,
  cwd: string,
  warm: boolean,
): Promise<{ ours: SpawnTimes[]; floor: SpawnTimes[] }> {
  const ours: SpawnTimes[] = [];
  const floor: SpawnTimes[] = [];
  for (let i = 0; i < count; i += 1) {
    // Answers once a launcher waits: the next job of an idle daemon finds one.
    if (warm) await pool.supported();
    await sleep(SETTLE_MS);
    ours.push(await launchOnce(pool, cwd));
    floor.push(await spawnOnce(TOOL, ['x']));
    await setImmediate();
  }
  return { ours, floor };
}

function p50(times: readonly SpawnTimes[], which: keyof SpawnTimes): number {
  return percentile(
    times.map((each) => each[which]),
    0.5,
  );
}

/** What the sandbox costs a tool that starts, with a launcher that waits for it and with none. */
export async function sandbox({ report, quick }: Bench): Promise<void> {
  const dir = tempDir('sandbox');
  for (const warm of [true, false]) {
    const pool = createLauncherPool({
      warm: warm ? 1 : 0,
      clock: systemClock,
      onProblem: (error) => report.failed('a launcher', error),
    });
    try {
      const { ours, floor } = await samples(warm ? (quick ? 15 : 60) : quick ? 3 : 10, pool, dir, warm);
      const figure = (which: keyof SpawnTimes, until: string) => ({
        name: `start in the sandbox until ${until}, ${warm ? 'warm' : 'cold'}: p50`,
        value: p50(ours, which),
        unit: 'ms' as const,
        floor: { name: `bare spawn until ${until}`, value: p50(floor, which) },
      });
      report.add({ ...figure('firstByteMs', 'the first byte'), ...(warm ? { goal: { aboveFloorAtMost: 10 } } : {}) });
      if (warm) report.add(figure('startedMs', 'the tool runs'));
    } finally {
      await pool.stop();
    }
  }
  removeDir(dir);
}
