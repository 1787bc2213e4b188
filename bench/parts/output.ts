import type { Recorded } from '../children/orders.ts';
import type { Bench } from '../kit/bench.ts';
import { runChild } from '../kit/child.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';

/** Lines of 100 bytes from a program's pipe, redacted, compressed, committed. */
export async function output({ report, quick }: Bench): Promise<void> {
  const lines = quick ? 300_000 : 1_000_000;
  const dir = tempDir('output');
  const { linesPerSecond, floorLinesPerSecond } = await runChild<Recorded>('children/recorder.ts', { dir, lines });
  removeDir(dir);
  const floor = { name: 'the same pipe, lines counted', value: floorLinesPerSecond };
  report.add({
    name: 'lines of 100 bytes through redaction into the store',
    value: linesPerSecond,
    unit: '/s',
    floor,
    goal: { atLeast: 500_000 },
  });
}
