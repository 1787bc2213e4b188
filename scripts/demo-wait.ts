/** Every wait of the demo has an end, and every end before the last step is one sentence. */
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../src/domain/duration.ts';
import { errorCode, wordsOfCode } from '../src/lib/error-code.ts';

/** Ends the demo. The message is for the person who started it; it has no full stop. */
export class DemoError extends Error {}

/** Waits at most this long; `what` is the subject of the sentence that follows. */
export async function within<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  const done = new AbortController();
  const late = async (): Promise<never> => {
    await sleep(limitMs, undefined, { signal: done.signal });
    throw notWithin(what, limitMs);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    done.abort();
  }
}

/** The same for HTTP, where the request itself is ended as well. */
export async function answered<T>(
  what: string,
  limitMs: number,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    return await send(signal);
  } catch (error) {
    if (error instanceof DemoError) throw error;
    throw signal.aborted ? notWithin(what, limitMs) : new DemoError(`${what} did not come: ${sentenceOf(error)}`);
  }
}

function notWithin(what: string, limitMs: number): DemoError {
  return new DemoError(`${what} did not come within ${formatDuration(limitMs)}`);
}

/** The message of an error, without its stack and its full stop. */
export function sentenceOf(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `no space is left in ${tmpdir()} (${code}). Free some, or set TMPDIR to a directory that has some`;
  if (!(error instanceof Error)) return String(error);
  // fetch says no more than that it failed, with a TypeError.
  const cause = error instanceof TypeError ? errorCode(error.cause) : null;
  return cause === null ? error.message.replace(/\.$/, '') : wordsOfCode(cause);
}
