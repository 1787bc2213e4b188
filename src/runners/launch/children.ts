import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { holdProcess } from '../../lib/clock.ts';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

const PR_SET_CHILD_SUBREAPER = 36;
const P_ALL = 0;
const P_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x0100_0000;
/** Only children of this thread: those of a worker are its own. */
const WNOTHREAD = 0x2000_0000;
/** Of siginfo_t. */
const [CODE_AT, PID_AT, STATUS_AT, INFO_BYTES] = [8, 16, 24, 128];
const CLD_EXITED = 1;
/** Ends taken in one turn of the event loop: a job may leave thousands of processes, and requests are served on. */
const ENDS_PER_TURN = 64;
/** Taken before a look: each dead one would be looked at. About 10 ms. */
const ENDS_BEFORE_LOOK = 4_096;
/** Node reaps a child that it started in the turn in which it hears of its end. */
const TURNS_OF_NODE = 10;

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** Processes that were started through Node, which also takes their ends. */
const ofNode = new Set<ChildProcess>();
subscribe('child_process', (message) => {
  const child: unknown = typeof message === 'object' && message !== null && 'process' in message && message.process;
  if (child instanceof ChildProcess) ofNode.add(child);
});

/**
 * The children of this process: tools, and what jobs left behind, which it adopts. Takes the end of both; a process
 * that is not reaped keeps its pid.
 */
export class Children {
  readonly #system: SystemCalls;
  readonly #listFile: string;
  readonly #adopts: boolean;
  readonly #tools = new Map<number, (exit: Exit) => void>();
  readonly #info = Buffer.alloc(INFO_BYTES);
  #release: (() => void) | null = null;

  constructor(system: SystemCalls, listFile = `/proc/self/task/${process.pid}/children`) {
    this.#system = system;
    this.#listFile = listFile;
    this.#adopts = system.call(system.numbers.made.prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
    process.on('SIGCHLD', () => this.#takeEnds(TURNS_OF_NODE));
  }

  /** A tool that has just been started. This program runs at least until its end. */
  add(pid: number, onEnd: (exit: Exit) => void): void {
    this.#tools.set(pid, onEnd);
    this.#release ??= holdProcess();
  }

  /**
   * The pids of the adopted processes; null where the kernel has no list of children. The list is complete: a child
   * leaves it only when its end is taken, which happens here, in the same thread.
   */
  adopted(): number[] | null {
    if (!this.#adopts) return null;
    this.#takeEnds(TURNS_OF_NODE, ENDS_BEFORE_LOOK);
    try {
      const pids = readFileSync(this.#listFile, 'latin1').split(' ').filter(Boolean).map(Number);
      return pids.filter((pid) => !this.#tools.has(pid) && !isOfNode(pid));
    } catch {
      return null;
    }
  }

  #takeEnds(turns: number, atMost = ENDS_PER_TURN): void {
    for (let count = 0; count < atMost; count += 1) {
      const pid = this.#wait(P_ALL, 0, WNOWAIT | WNOTHREAD);
      if (pid === 0) return;
      const isTool = this.#tools.has(pid);
      if (!isTool && isOfNode(pid)) {
        if (turns > 0) setImmediate(() => this.#takeEnds(turns - 1));
        return;
      }
      this.#wait(P_PID, pid, 0);
      if (isTool) this.#ended(pid);
    }
    setImmediate(() => this.#takeEnds(turns));
  }

  #ended(pid: number): void {
    const onEnd = this.#tools.get(pid);
    this.#tools.delete(pid);
    if (this.#tools.size === 0) {
      this.#release?.();
      this.#release = null;
    }
    const status = this.#info.readInt32LE(STATUS_AT);
    const exited = this.#info.readInt32LE(CODE_AT) === CLD_EXITED;
    onEnd?.(exited ? { exitCode: status, signal: null } : { exitCode: null, signal: SIGNAL_NAMES.get(status) ?? null });
  }

  /** The pid of a child that has ended, 0 if no child has ended. */
  #wait(which: number, pid: number, flags: number): number {
    this.#info.fill(0);
    const { waitid } = this.#system.numbers.made;
    const result = this.#system.call(waitid, which, pid, this.#info, WEXITED | WNOHANG | flags, 0);
    return result === 0 ? this.#info.readInt32LE(PID_AT) : 0;
  }
}

function isOfNode(pid: number): boolean {
  let found = false;
  for (const child of ofNode) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) ofNode.delete(child);
    else if (child.pid === pid) found = true;
  }
  return found;
}
