/**
 * Loaded into a daemon under test before its first line (`node --import`): records how late its event loop turns, from
 * SIGUSR2 on, and writes the figures to the file named in GATEHOUSE_LAG_FILE when the process ends. Run by itself (with
 * `fork`) it does nothing else: then its figures are those of the machine.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Of the timer that is watched, in milliseconds: what it is late beyond this is the lag. */
const RESOLUTION_MS = 5;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

function lateMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

process.on('SIGUSR2', () => delay.reset());
process.on('disconnect', () => process.exit());
process.on('exit', () => {
  const figures = { p50: lateMs(delay.percentile(50)), p99: lateMs(delay.percentile(99)), max: lateMs(delay.max) };
  writeFileSync(process.env['GATEHOUSE_LAG_FILE'] ?? '/dev/null', JSON.stringify(figures));
});
