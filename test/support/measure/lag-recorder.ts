/**
 * Loaded into a daemon under test before its first line (`node --import`): records how late its event loop turns, and
 * at SIGUSR2 writes the figures since the last one to the file named in GATEHOUSE_LAG_FILE. Run by itself (with `fork`)
 * it does nothing but write and sync the file named in GATEHOUSE_SYNC_FILE: then its figures are those of the machine's
 * processor and disk.
 */
import { fsyncSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Of the timer that is watched, in milliseconds: what it is late beyond this is the lag. */
const RESOLUTION_MS = 5;
/** As a store does under load: a page and a sync, many times a second. */
const PAGE_BYTES = 4_096;
const SYNC_EVERY_MS = 10;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

function lateMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

const synced = process.env['GATEHOUSE_SYNC_FILE'];
if (synced !== undefined) {
  const file = openSync(synced, 'w');
  const page = Buffer.alloc(PAGE_BYTES);
  setInterval(() => {
    writeSync(file, page);
    fsyncSync(file);
  }, SYNC_EVERY_MS);
}

process.on('disconnect', () => process.exit());
process.on('SIGUSR2', () => {
  const figures = { p50: lateMs(delay.percentile(50)), p99: lateMs(delay.percentile(99)), max: lateMs(delay.max) };
  delay.reset();
  const file = process.env['GATEHOUSE_LAG_FILE'] ?? '/dev/null';
  writeFileSync(`${file}.new`, JSON.stringify(figures));
  renameSync(`${file}.new`, file);
});
// Before this the signal would end it: whoever forked it waits for this.
process.send?.('ready');
