import { writeSync } from 'node:fs';

/** How long a child program waits for its reader before it gives up: far longer than any test runs. */
const FULL_LIMIT_MS = 600_000;
const RETRY_MS = 1;
/** Nothing wakes its waiter: waiting for it is a pause of the whole thread. */
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes `value` as one line of JSON to standard output, synchronously: what was printed before a kill has arrived.
 * Once any module has touched process.stdout the pipe is non-blocking, and a slow reader makes a write fail with
 * EAGAIN. That is waited for. Throws EAGAIN when nothing was read for 10 minutes, and every other error at once.
 */
export function printLine(value: unknown): void {
  let rest = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let waited = 0; rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest));
      waited = 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || waited >= FULL_LIMIT_MS)
        Atomics.wait(never, 0, 0, RETRY_MS);
      waited += RETRY_MS;
    }
  }
}
