import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { OutputPipe } from '../launch/tool.ts';
import type { Watched } from './guard-protocol.ts';

/** Read at the start: after the death of the daemon the parent is another process. */
const DAEMON = process.ppid;

/** The interval at which unread output is drained, in milliseconds: a pipe holds 64 KiB. */
const DRAIN_EVERY_MS = 10;
const DRAIN_BYTES = 64 * 1024;
/** Read at a time from one pipe, so that a tool that prints without end doesn't keep the guard from ending it. */
const READS_PER_TURN = 4;

/** The outputs that the guard holds open beside its daemon, and reads when that is gone. */
export class HeldOutput {
  readonly #clock: Clock;
  readonly #held = new Map<string, number[]>();
  readonly #bytes = Buffer.alloc(DRAIN_BYTES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From here on the output of the tool has a reader, whatever becomes of the daemon. */
  hold({ jobId, pid, output }: Watched): void {
    this.release(jobId);
    if (output === null) return;
    const fds = [openPipe(pid, 1, output.stdout), openPipe(pid, 2, output.stderr)];
    this.#held.set(
      jobId,
      fds.filter((fd) => fd !== null),
    );
  }

  release(jobId: string): void {
    for (const fd of this.#held.get(jobId) ?? []) closeSync(fd);
    this.#held.delete(jobId);
  }

  /** Reads everything away, from now on. */
  drain(): void {
    for (const fd of [...this.#held.values()].flat()) this.#empty(fd);
    this.#clock.after(DRAIN_EVERY_MS, () => this.drain());
  }

  #empty(fd: number): void {
    try {
      for (let n = 0; n < READS_PER_TURN && readSync(fd, this.#bytes) > 0; n += 1);
    } catch {
      // Nothing there at the moment.
    }
  }
}

/** Opens a pipe by the read end of the daemon or, after its death, by the end of the tool. */
function openPipe(pid: number, toolFd: number, { fd, inode }: OutputPipe): number | null {
  for (const path of [`/proc/${DAEMON}/fd/${fd}`, `/proc/${pid}/fd/${toolFd}`]) {
    try {
      // The number may belong to another file by now, which must not be opened.
      if (statSync(path).ino === inode) return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      // The next one.
    }
  }
  return null;
}
