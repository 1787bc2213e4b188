import type { Bench } from '../kit/bench.ts';
import { startDaemon } from '../kit/daemon.ts';
import { openChild } from '../kit/child.ts';
import { childrenOf, processorSeconds, residentMiB, wakeUps } from '../kit/process-facts.ts';
import { removeDir } from '../kit/scratch.ts';
import { monotonicMs, sleep } from '../kit/time.ts';

/** After the start: memory that only the start needed is given back, and V8 compiles what runs often. */
const SETTLE_MS = 40_000;

/** What a daemon that has nothing to do costs. */
export async function idle({ report, quick }: Bench): Promise<void> {
  const daemon = await startDaemon();
  const empty = openChild('floors/idle.ts');
  try {
    await empty.next();
    await daemon.ask('GET', '/jobs?limit=50');
    await sleep(SETTLE_MS);
    const usedBefore = processorSeconds(daemon.pid);
    const wokenBefore = wakeUps(daemon.pid);
    const before = monotonicMs();
    await sleep(quick ? 30_000 : 60_000);
    const seconds = (monotonicMs() - before) / 1000;
    const share = (100 * (processorSeconds(daemon.pid) - usedBefore)) / seconds;
    const woken = (wakeUps(daemon.pid) - wokenBefore) / seconds;
    const floor = { name: 'an empty program of Node', value: residentMiB(empty.pid) };
    report.add({
      name: 'resident memory of the idle daemon',
      value: residentMiB(daemon.pid),
      unit: 'MiB',
      floor,
      goal: { atMost: 88 },
    });
    report.add({
      name: 'processor of the idle daemon, share of one core',
      value: share,
      unit: '%',
      goal: { atMost: 0.2 },
    });
    report.add({ name: 'wake-ups of its event loop', value: woken, unit: '/s', goal: { atMost: 3 } });
    const children = childrenOf(daemon.pid);
    report.add({
      name: 'resident memory of all processes beside the idle daemon',
      value: children.reduce((sum, each) => sum + each.residentMiB, 0),
      unit: 'MiB',
      goal: { atMost: 40 },
    });
    for (const each of children) {
      const program =
        each.command
          .split(' ')
          .find((word) => /\.[jt]s$/.test(word))
          ?.split('/')
          .at(-1) ?? each.command;
      report.add({ name: `resident memory of ${program}`, value: each.residentMiB, unit: 'MiB', floor });
    }
  } finally {
    await Promise.all([empty.end(), daemon.stop()]);
    removeDir(daemon.dataDir);
  }
}
