import fs from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';

/**
 * Helper processes wait idle, often for days, so they are kept small. Measured on Node 26.10, x64: 42 MiB for an empty
 * Node, 61 MiB after stripping types, 45 MiB with the compile cache, 35 to 39 MiB after giving back the program text.
 */

/** Above this the types were stripped in this process, and its 16 MiB of compiler would stay for ever. */
const STRIPPED_HERE_BYTES = 52 * 1024 * 1024;
const AGAIN = 'SVC_HELPER_AGAIN';
const MADV_DONTNEED = 4;
const F_SETFD = 2;

/**
 * The options that helper processes are started with. No warning may reach the tool's standard error. The pool size
 * saves three threads that would have nothing to do.
 */
export const HELPER_NODE_OPTIONS = ['--no-warnings', '--v8-pool-size=0', '--max-semi-space-size=1'] as const;

/**
 * When the compile cache was cold, writes it and starts this process image again, once, with the same pid and with
 * descriptor `keepFd`. The second time nothing is stripped. To be called first, before any descriptor is used.
 */
export function startLean(system: SystemCalls, keepFd: number): void {
  if (process.env[AGAIN] !== undefined || process.execve === undefined || process.argv[1] === undefined) return;
  if (process.env['NODE_COMPILE_CACHE'] === undefined || process.memoryUsage.rss() < STRIPPED_HERE_BYTES) return;
  flushCompileCache();
  // Node marked it to be closed when it started.
  if (system.call(system.numbers.made.fcntl, keepFd, F_SETFD, 0) !== 0) return;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, again, { ...process.env, [AGAIN]: '1' });
}

/**
 * Gives the pages of program text that start-up touched back to the kernel. They are clean and file-backed, shared with
 * the daemon, and come back by themselves when they are needed. Only mappings that were never written are named.
 */
export function giveBackText(system: SystemCalls): void {
  for (const line of fs.readFileSync('/proc/self/maps', 'latin1').split('\n')) {
    const text = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +\//.exec(line);
    if (text === null) continue;
    const start = BigInt(`0x${text[1]}`);
    // A refusal costs nothing but memory.
    system.call(system.numbers.made.madvise, start, BigInt(`0x${text[2]}`) - start, MADV_DONTNEED);
  }
}
