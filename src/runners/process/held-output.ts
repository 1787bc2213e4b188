import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { actAs } from '../sandbox/kernel/effective-account.ts';
import type { OutputPipe, OutputPipes } from '../launch/tool.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
import type { Watched } from './guard-protocol.ts';
import { processEntry } from './process-table.ts';

/** Read at the start: after the death of the daemon the parent is another process. */
const DAEMON = process.ppid;

/** The interval at which unread output is drained, in milliseconds: a pipe holds 64 KiB. */
const DRAIN_EVERY_MS = 10;
const DRAIN_BYTES = 64 * 1024;
/** Read at a time from one pipe, so that a tool that prints without end doesn't keep the guard from ending it. */
const READS_PER_TURN = 4;

/** An output that could not be opened is tried again after this time, in milliseconds. */
const OPEN_AGAIN_MS = 50;

interface Held {
  readonly watched: Watched;
  /** By the number in the tool. */
  readonly fds: Map<number, number>;
}

/** The outputs that the guard holds open beside its daemon, and reads when that is gone. */
export class HeldOutput {
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  readonly #bytes = Buffer.alloc(DRAIN_BYTES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From here on the output of the tool has a reader, whatever becomes of the daemon. */
  hold(watched: Watched): void {
    this.release(watched.jobId);
    if (watched.output === null) return;
    const held = { watched, fds: new Map<number, number>() };
    this.#held.set(watched.jobId, held);
    this.#open(held, watched.output);
  }

  release(jobId: string): void {
    for (const fd of this.#held.get(jobId)?.fds.values() ?? []) closeSync(fd);
    this.#held.delete(jobId);
  }

  /** Reads everything away, from now on. */
  drain(): void {
    for (const { fds } of this.#held.values()) for (const fd of fds.values()) this.#empty(fd);
    this.#clock.after(DRAIN_EVERY_MS, () => this.drain());
  }

  /**
   * Where jobs have another account, neither the daemon nor the tool may be open to this process while a child of the
   * daemon changes its account, or before the tool is executed.
   */
  #open(held: Held, output: OutputPipes): void {
    const { jobId, pid, account = null } = held.watched;
    if (this.#held.get(jobId) !== held) return;
    for (const [toolFd, pipe] of [output.stdout, output.stderr].entries()) {
      if (held.fds.has(toolFd)) continue;
      const fd = openPipe(pid, toolFd + 1, pipe, account);
      if (fd !== null) held.fds.set(toolFd, fd);
    }
    if (held.fds.size === 2 || account === null || processEntry(pid) === null) return;
    this.#clock.after(OPEN_AGAIN_MS, () => this.#open(held, output));
  }

  #empty(fd: number): void {
    try {
      for (let n = 0; n < READS_PER_TURN && readSync(fd, this.#bytes) > 0; n += 1);
    } catch {
      // Nothing there at the moment.
    }
  }
}

/** Opens a pipe by the read end of the daemon or by the end of the tool, which its account may open. */
function openPipe(pid: number, toolFd: number, pipe: OutputPipe, account: AccountIds | null): number | null {
  const ofTool = `/proc/${pid}/fd/${toolFd}`;
  const found = openIf(`/proc/${DAEMON}/fd/${pipe.fd}`, pipe) ?? openIf(ofTool, pipe);
  if (found !== null || account === null) return found;
  return actAs(openSystemCalls(), account, () => openIf(ofTool, pipe));
}

/** Null where the path cannot be opened, and where it is another file by now, which must not be opened. */
function openIf(path: string, { inode }: OutputPipe): number | null {
  try {
    return statSync(path).ino === inode ? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) : null;
  } catch {
    return null;
  }
}
