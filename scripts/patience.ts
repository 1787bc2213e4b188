/** How slow this machine is, for the time limits of tests. */
import { spawnSync } from 'node:child_process';

/** What an empty Node takes on the machine that the limits were written for. */
const QUICK_MS = 50;
/** Their median counts: one start beside something else says nothing. */
const STARTS = 5;
/** Above this, a limit would hide a test that hangs. */
const PATIENCE_MAX = 4;

/** How many times as long as on a quick machine limits have to be: 1 to 4, in steps of a half. */
export function measurePatience(): number {
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    return performance.now() - began;
  }).toSorted((a, b) => a - b);
  const slowness = (times[Math.floor(STARTS / 2)] ?? QUICK_MS) / QUICK_MS;
  return Math.min(PATIENCE_MAX, Math.max(1, Math.ceil(slowness * 2) / 2));
}
