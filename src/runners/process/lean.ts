import fs from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';

/**
 * Helper processes wait idle, often for days, so they are kept small. Measured on Node 26.10, x64: 42 MiB for an empty
 * Node, 61 MiB after stripping types, 45 MiB with the compile cache, 35 to 39 MiB after giving back the program text.
 */

/** Node loads its type stripper, of 16 MiB, only when the compile cache lacks a file; it would stay for ever. */
const TYPE_STRIPPER = 'NativeModule internal/deps/amaro/dist/index';
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
  if (process.env['NODE_COMPILE_CACHE'] === undefined || !strippedHere()) return;
  flushCompileCache();
  // Node marked it to be closed when it started.
  if (system.call(system.numbers.made.fcntl, keepFd, F_SETFD, 0) !== 0) return;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, again, { ...process.env, [AGAIN]: '1' });
}

/** The list is not in Node's documentation. The resident size says less: it depends on what else needs the memory. */
function strippedHere(): boolean {
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes(TYPE_STRIPPER) ?? false;
}

/**
 * Gives the pages of program text that start-up touched back to the kernel. They are clean and file-backed, shared with
 * the daemon, and come back by themselves when they are needed. Only mappings that were never written are named.
 */
export function giveBackText(system: SystemCalls): void {
  for (const line of fs.readFileSync('/proc/self/maps', 'latin1').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +\//.exec(line) ?? [];
    if (from === undefined) continue;
    const start = BigInt(`0x${from}`);
    // A refusal costs nothing but memory.
    system.call(system.numbers.made.madvise, start, BigInt(`0x${to}`) - start, MADV_DONTNEED);
  }
}
