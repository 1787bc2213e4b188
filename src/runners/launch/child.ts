import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import type { CallList } from './records.ts';

const CLONE_VM = 0x100;
/** The child opens and closes descriptors of this process. */
export const CLONE_FILES = 0x400;
const SIGCHLD = 17;
const SIG_SETMASK = 2;
const SIGNAL_SET_BYTES = 8;
const ALL_SIGNALS = Buffer.alloc(SIGNAL_SET_BYTES, 0xff);

/**
 * Starts a process that shares the memory of this one and carries out the list. Answers its pid; throws if that fails.
 * `shares` is 0 or CLONE_FILES.
 *
 * Every signal is blocked around it, also those that a profiler sends and that the C library keeps for itself: the
 * child inherits the mask, and a handler of this process that ran in the child would write into our memory.
 */
export function startChild(system: SystemCalls, code: bigint, list: CallList, shares = 0): number {
  const { rt_sigprocmask } = system.numbers.made;
  const before = Buffer.alloc(SIGNAL_SET_BYTES);
  const blocked = system.call(rt_sigprocmask, SIG_SETMASK, ALL_SIGNALS, before, SIGNAL_SET_BYTES);
  if (blocked !== 0) throw new Error(`blocking signals failed with error ${-blocked}`);
  const pid = system.clone(code, list.stackTop, CLONE_VM | SIGCHLD | shares, list.start);
  system.call(rt_sigprocmask, SIG_SETMASK, before, 0, SIGNAL_SET_BYTES);
  if (pid < 0) throw new Error(`starting a process failed with error ${-pid}`);
  return pid;
}
