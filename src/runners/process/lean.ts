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
const MADV_NOHUGEPAGE = 15;
const SMALL_PAGE = 4_096n;
const LARGE_PAGE = 2n * 1024n * 1024n;
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
  for (const { start, end } of mappings(/^r-xp \S+ \S+ [1-9]\d* +\//))
    advise(system, start, end - start, MADV_DONTNEED);
}

/**
 * Has the kernel map the large pages of anonymous memory as small ones, and keep them so. Large pages make a start
 * shorter (bin/svc); measured on a virtual machine, each wake-up of an idle process takes 2.2 ms of a processor with
 * them and 1.4 without. What the C library asks for later may be in large pages again.
 */
export function splitLargePages(system: SystemCalls): void {
  for (const { start, end } of mappings(/^rw-p 0+ 00:00 0 *(\[heap\])?$/)) {
    const first = ((start + LARGE_PAGE - 1n) / LARGE_PAGE) * LARGE_PAGE;
    // A change in the middle of a large page splits it. Advice for the whole would leave it as it is.
    for (let at = first; at + LARGE_PAGE <= end; at += LARGE_PAGE)
      advise(system, at + SMALL_PAGE, SMALL_PAGE, MADV_NOHUGEPAGE);
    // Else the kernel would join them again, in its own time.
    if (end - start >= LARGE_PAGE) advise(system, start, end - start, MADV_NOHUGEPAGE);
  }
}

/** The mappings of this process whose line has this form behind the addresses. */
function mappings(form: RegExp): { readonly start: bigint; readonly end: bigint }[] {
  return fs
    .readFileSync('/proc/self/maps', 'latin1')
    .split('\n')
    .flatMap((line) => {
      const [, start, end, rest = ''] = /^([0-9a-f]+)-([0-9a-f]+) (.*)$/.exec(line) ?? [];
      if (start === undefined || !form.test(rest)) return [];
      return [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }];
    });
}

/** A refusal costs nothing but memory, or time. */
function advise(system: SystemCalls, start: bigint, length: bigint, advice: number): void {
  system.call(system.numbers.made.madvise, start, length, advice);
}
