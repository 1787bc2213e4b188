import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../src/version.ts';
import { removeDir, tempDir } from './scratch.ts';
import { percentile } from './statistics.ts';
import { monotonicMs, sleep } from './time.ts';

/** Whether the machine does something else. */
export const QUIET_KEYS = ['load before', 'stolen before', 'fdatasync before'] as const;
export const MACHINE_KEYS = ['date', 'cores', 'memory', 'kernel', 'node', 'gatehouse', ...QUIET_KEYS] as const;
export type Machine = Readonly<Record<(typeof MACHINE_KEYS)[number], string>>;

const GIB = 1024 ** 3;
/** Flushes of one block each, as a commit of one row is. */
const FLUSHES = 200;
const BLOCK_BYTES = 4096;
const STEAL_MS = 1_000;

/** What the figures are measured on, and whether it does something else. It names the size of the machine, no more. */
export async function thisMachine(): Promise<Machine> {
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const [p50, p99] = flushTimes();
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: `${availableParallelism()} (${cpus()[0]?.model ?? 'unknown'})`,
    memory: `${(totalmem() / GIB).toFixed(0)} GiB`,
    kernel: `${type()} ${release()}`,
    node: process.version,
    gatehouse: VERSION,
    'load before': `${load} (a quiet machine has less than 0.5; with more, look at the ratios only)`,
    'stolen before': `${(await stolenShare()).toFixed(1)} % of the processor went to other machines of the host`,
    'fdatasync before': `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, 4 KiB each`,
  };
}

/** p50 and p99 of a flush, in milliseconds. */
function flushTimes(): [number, number] {
  const dir = tempDir('flush');
  const fd = openSync(join(dir, 'file'), 'w');
  try {
    const block = Buffer.alloc(BLOCK_BYTES, 1);
    const times = Array.from({ length: FLUSHES }, () => {
      const before = monotonicMs();
      writeSync(fd, block);
      fdatasyncSync(fd);
      return monotonicMs() - before;
    });
    return [percentile(times, 0.5), percentile(times, 0.99)];
  } finally {
    closeSync(fd);
    removeDir(dir);
  }
}

/** The share of a second, in percent, that the host gave to others while this machine wanted to work. */
async function stolenShare(): Promise<number> {
  const before = processorTicks();
  await sleep(STEAL_MS);
  const after = processorTicks();
  return after.all === before.all ? 0 : (100 * (after.stolen - before.stolen)) / (after.all - before.all);
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, in ticks of all processors. */
function processorTicks(): { all: number; stolen: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.split(/ +/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 };
}
