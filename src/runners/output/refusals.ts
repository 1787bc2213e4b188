/** The end of each stream that is looked at, in bytes. */
const TAIL_BYTES = 4096;

/** What programs say of EACCES, EPERM and ECONNREFUSED. `Permission denied (publickey)` is said of an SSH server. */
const REFUSED =
  /EACCES|EPERM|CONNREFUSED|permission denied(?! \()|not permitted|connection refused|could(n't| not) connect/i;

/** The last line of a failed job that the sandbox may have refused something. */
export const REFUSAL_HINT =
  'The sandbox may be the cause: without further options a job writes only in its own directory and connects only to ' +
  'port 22. The options writable, egress_ports and privileged allow more.';

/** Keeps the end of what a program prints, and tells whether it says that something was refused. */
export class Refusals {
  #tail = Buffer.alloc(0);

  /** Copies what it keeps: the memory of `chunk` may be taken back. */
  push(chunk: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  /** Forgets what an earlier program printed. */
  clear(): void {
    this.#tail = Buffer.alloc(0);
  }

  get isLikely(): boolean {
    return REFUSED.test(this.#tail.toString('latin1'));
  }
}
