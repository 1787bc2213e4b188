import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { Watched } from './guard-protocol.ts';

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
    // The tool may have taken the launcher's place by now: then its own ends of the same pipes are there to be opened.
    const fds = [openFirst(pid, [output.stdout, 1]), openFirst(pid, [output.stderr, 2])];
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

function openFirst(pid: number, fds: readonly number[]): number | null {
  for (const fd of fds) {
    try {
      return openSync(`/proc/${pid}/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      // The next one.
    }
  }
  return null;
}
