/**
 * Loaded into a daemon under test before its first line (`node --import`): records how late its event loop turns, and
 * at SIGUSR2 writes the figures since the last one to the file named in GATEHOUSE_LAG_FILE. Time in which the thread
 * waits for a processor does not count: other programs of the machine take it. Run by itself (with `fork`) it does
 * nothing but write and sync the file named in GATEHOUSE_SYNC_FILE: then its figures are those of the disk.
 */
import { fsyncSync, openSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Of the timer that is watched, in milliseconds: what it is late beyond this is the lag. */
const RESOLUTION_MS = 5;
/** As a store does under load: a page and a sync, many times a second. */
const PAGE_BYTES = 4_096;
const SYNC_EVERY_MS = 10;
/** Three numbers of at most 20 digits. */
const SCHEDSTAT_BYTES = 64;

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** How long the main thread was ready to run and waited for a processor so far, in milliseconds. */
function processorWaits(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const numbers = Buffer.alloc(SCHEDSTAT_BYTES);
  return () => {
    const length = readSync(file, numbers, 0, SCHEDSTAT_BYTES, 0);
    // Nanoseconds that it ran, nanoseconds that it waited, how often.
    return Number(numbers.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  };
}

/** The result tells how late the turns since the last call were. */
function recordLags(): () => Figures {
  const waitedMs = processorWaits();
  let lags: number[] = [];
  let before = { at: performance.now(), waited: waitedMs() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), waited: waitedMs() };
    lags.push(Math.max(0, now.at - before.at - (now.waited - before.waited) - RESOLUTION_MS));
    before = now;
  }, RESOLUTION_MS);
  timer.unref();
  return () => {
    const sorted = lags.toSorted((a, b) => a - b);
    const share = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
    lags = [];
    return { p50: share(0.5), p99: share(0.99), max: share(1) };
  };
}

/** Keeps the process alive. */
function syncForEver(path: string): void {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(PAGE_BYTES);
  setInterval(() => {
    writeSync(file, page);
    fsyncSync(file);
  }, SYNC_EVERY_MS);
}

if (isMainThread) {
  const take = recordLags();
  const synced = process.env['GATEHOUSE_SYNC_FILE'];
  if (synced !== undefined) syncForEver(synced);
  const file = process.env['GATEHOUSE_LAG_FILE'] ?? '/dev/null';
  process.on('disconnect', () => process.exit());
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, JSON.stringify(take()));
    renameSync(`${file}.new`, file);
  });
  // Before this the signal would end the process: its parent waits for this message.
  process.send?.('ready');
}
