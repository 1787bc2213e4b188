/**
 * How slow this machine is at the moment, for the time limits of tests: how many runnable threads share a core, how
 * much of the processor the host of a virtual machine takes away, and how long a fixed piece of work takes. It is
 * measured whenever it is asked for: a machine that was idle when the tests began may be busy when a limit counts.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** On the machine that the limits of tests were written for, in milliseconds. */
const WORK_MS = 0.35;
const WORK = Buffer.alloc(512 * 1024);
/** A measurement is used again for this long: it takes a millisecond. */
const FRESH_MS = 250;
/** The share of the newest measurement in the average: a limit follows the load of some two seconds. */
const NEWEST_SHARE = 0.2;
/** Above this, a limit would hide a test that hangs. */
const SLOWNESS_MAX = 20;

/** An emulated processor and its kernel answer more slowly than the measurement shows: `npm run kernels` sets 10. */
const FLOOR = Number(process.env['GATEHOUSE_TEST_PATIENCE'] ?? 1);

interface Ticks {
  readonly total: number;
  readonly stolen: number;
}

let measuredAtMs = -Infinity;
let average = FLOOR;
let ticks: Ticks | null = null;

/** How many times as long as on an idle, quick machine a piece of work takes now: 1 to 20. */
export function slowness(): number {
  if (performance.now() - measuredAtMs < FRESH_MS) return average;
  const first = measuredAtMs === -Infinity;
  const now = Math.min(SLOWNESS_MAX, Math.max(FLOOR, speed() * crowding()));
  average = first ? now : average * (1 - NEWEST_SHARE) + now * NEWEST_SHARE;
  measuredAtMs = performance.now();
  return average;
}

/** The shortest of three: the others may have been interrupted, which `crowding` counts. */
function speed(): number {
  const times = Array.from({ length: 3 }, () => {
    const beganMs = performance.now();
    hash('sha256', WORK);
    return performance.now() - beganMs;
  });
  return Math.max(1, Math.min(...times) / WORK_MS);
}

/** Runnable threads for each core, by what the host of a virtual machine leaves of it. 1 where there is no /proc. */
function crowding(): number {
  let text: string;
  try {
    text = readFileSync('/proc/stat', 'utf8');
  } catch {
    return 1;
  }
  const runnable = Number(/^procs_running (\d+)$/m.exec(text)?.[1] ?? 1);
  const fields = (/^cpu +(.*)$/m.exec(text)?.[1] ?? '').split(' ').map(Number);
  const now = { total: fields.slice(0, 8).reduce((sum, each) => sum + each, 0), stolen: fields[7] ?? 0 };
  const before = ticks ?? now;
  ticks = now;
  const passed = now.total - before.total;
  const left = passed > 0 ? 1 - (now.stolen - before.stolen) / passed : 1;
  return Math.max(1, runnable / availableParallelism()) / Math.max(1 / SLOWNESS_MAX, left);
}

/**
 * Time of a quick machine, in milliseconds, since it was made: it passes more slowly the slower this machine is. The
 * time since the last question counts as if the machine had been as slow as it is now.
 */
export class MachineTime {
  #spentMs = 0;
  #lookedAtMs = performance.now();

  passed(): number {
    const nowMs = performance.now();
    this.#spentMs += (nowMs - this.#lookedAtMs) / slowness();
    this.#lookedAtMs = nowMs;
    return this.#spentMs;
  }
}

/** How many times as long as on a quick machine a wait that cannot be asked again may be at least. */
const MARGIN = 2;

/** A limit of a quick machine as one of this machine at the moment, in whole milliseconds. It ends what hangs. */
export function patient(limitMs: number): number {
  return Math.ceil(limitMs * Math.max(MARGIN, slowness()));
}

/** Whether the tests run on an emulated processor. */
export const IS_EMULATED = FLOOR >= 10;
