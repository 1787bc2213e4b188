import { readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { nextTurn } from '../../lib/flow/cooperative.ts';

/** One line of the system's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Ticks since boot. With the pid it names the process for ever. */
  readonly startTicks: number;
}

/** PF_KTHREAD of the flags: a thread of the kernel has no environment and can't be ended. */
const KERNEL_THREAD = 0x0020_0000;
/** The number of entries that are read before yielding to other work: about 1 ms. */
const ENTRIES_PER_TURN = 64;
/** Most of the pids that were given lately are of processes that ended already: about 5 µs each. */
const PIDS_PER_LOOK = 1_024;
const ENVIRONMENT_CHUNK_BYTES = 64 * 1024;
/** The kernel takes at most a quarter of the stack limit, 2 MiB by default, for arguments and environment together. */
const ENVIRONMENT_MAX_BYTES = 8 * 1024 * 1024;

/** The process of this pid; null if it does not exist or is dead but not yet reaped, or without /proc. */
export function processEntry(pid: number): ProcessEntry | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // The name in brackets may hold anything, brackets too; what follows its last bracket are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  const dead = fields[0] === 'X' || (fields[0] === 'Z' && field(20) <= 1);
  if (dead || (field(9) & KERNEL_THREAD) !== 0) return null;
  return { pid, parent: field(4), group: field(5), session: field(6), startTicks: field(22) };
}

/** Of the times in `/proc`: every kernel that runs this program shows them in hundredths of a second. */
const TICK_MS = 10;

/**
 * When the process of this pid was started, in milliseconds since the epoch; null if it does not exist. By the start of
 * this process, which is known by both clocks: a container may be shown another time since the boot.
 */
export function processStart(pid: number, now: number): number | null {
  const [own, other] = [processEntry(process.pid), processEntry(pid)];
  if (own === null || other === null) return null;
  const ownStart = now - process.uptime() * 1_000;
  return ownStart - (own.startTicks - other.startTicks) * TICK_MS;
}

/** The pid given last: while it stays the same, no process was made. Null on a system without /proc. */
export function newestPid(): number | null {
  try {
    return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
  } catch {
    return null;
  }
}

/**
 * The living processes with pids after one that was the newest, up to one that is now. Null where the numbers have
 * begun again, or are too many: then the whole table has to be read.
 */
export function processesSince(before: number | null, now: number | null): ProcessEntry[] | null {
  if (before === null || now === null || now < before || now - before > PIDS_PER_LOOK) return null;
  return Array.from({ length: now - before }, (_, n) => processEntry(before + 1 + n)).filter((entry) => entry !== null);
}

/** Every living process but the threads of the kernel. Empty on a system without /proc. Yields to other work. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return entries;
  }
  for (const [index, name] of names.entries()) {
    if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
    const pid = Number(name);
    const entry = Number.isInteger(pid) ? processEntry(pid) : null;
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/**
 * True when the environment that the process was started with holds exactly this assignment. False when it may not be
 * read: then it belongs to another user. Read off the main thread, since the kernel may hold the reader back while
 * another process is stuck.
 */
export async function wasStartedWith(pid: number, assignment: string): Promise<boolean> {
  // A NUL before and after, so that neither a longer name nor a longer value matches.
  const wanted = Buffer.from(`\0${assignment}\0`);
  try {
    await using file = await open(`/proc/${pid}/environ`, 'r');
    let kept = Buffer.from('\0');
    for (let total = 0; total < ENVIRONMENT_MAX_BYTES;) {
      const chunk = Buffer.allocUnsafe(ENVIRONMENT_CHUNK_BYTES);
      const { bytesRead } = await file.read(chunk, 0, chunk.length, total);
      // A process may have overwritten the end of its last variable.
      const last = bytesRead === 0;
      kept = Buffer.concat([kept, last ? Buffer.from('\0') : chunk.subarray(0, bytesRead)]);
      if (kept.includes(wanted)) return true;
      if (last) return false;
      kept = kept.subarray(Math.max(0, kept.length - wanted.length));
      total += bytesRead;
    }
  } catch {
    return false;
  }
  return false;
}
