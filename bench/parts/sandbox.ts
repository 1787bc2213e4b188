import { setImmediate } from 'node:timers/promises';
import { createLauncher, type Launcher } from '../../src/runners/launch/launch.ts';
import { spawnOnce, type SpawnTimes } from '../floors/programs.ts';
import type { Bench } from '../kit/bench.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep } from '../kit/time.ts';

const TOOL = '/bin/echo';
const SETTLE_MS = 30;

async function launchOnce(launcher: Launcher, cwd: string): Promise<SpawnTimes> {
  const before = monotonicMs();
  const launched = await launcher.launch({
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

async function samples(count: number, cwd: string): Promise<{ ours: SpawnTimes[]; floor: SpawnTimes[] }> {
  const launcher = createLauncher();
  const ours: SpawnTimes[] = [];
  const floor: SpawnTimes[] = [];
  for (let i = 0; i < count; i += 1) {
    await sleep(SETTLE_MS);
    ours.push(await launchOnce(launcher, cwd));
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

/** What the sandbox costs a tool that starts. */
export async function sandbox({ report, quick }: Bench): Promise<void> {
  const dir = tempDir('sandbox');
  const { ours, floor } = await samples(quick ? 15 : 60, dir);
  const figure = (which: keyof SpawnTimes, until: string) => ({
    name: `start in the sandbox until ${until}: p50`,
    value: p50(ours, which),
    unit: 'ms' as const,
    floor: { name: `bare spawn until ${until}`, value: p50(floor, which) },
  });
  report.add({ ...figure('firstByteMs', 'the first byte'), goal: { aboveFloorAtMost: 10 } });
  report.add(figure('startedMs', 'the tool runs'));
  removeDir(dir);
}
