import type { IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { DialFailed } from '../dial/dial-failed.ts';
import type { Dial } from '../dial/guard.ts';
import { exchange } from '../dial/exchange.ts';
import { CONNECT_MS, Limit } from '../dial/limits.ts';
import { RETRY_WAIT_MAX_MS } from '../domain/time-limits.ts';

/** From the connection to the head of the response. */
const ANSWER_MS = 5_000;
/** For the body of a successful response. */
const DRAIN_MS = 1_000;
/** The longest response body that is read: its content is not used. */
const ANSWER_BYTES_MAX = 65_536;

interface Posting {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

export interface PostDeps {
  readonly clock: Clock;
  readonly dial: Dial;
}

/**
 * One POST on its own connection; follows no redirect. Resolves on a 2xx response, otherwise throws DialFailed with a
 * reason that contains nothing of the URL or the response.
 */
export async function post(deps: PostDeps, posting: Posting): Promise<void> {
  const limit = new Limit(deps.clock);
  try {
    limit.set(CONNECT_MS, 'no connection');
    const socket = await limit.during(deps.dial(posting.url, limit.signal));
    limit.set(ANSWER_MS, 'no answer');
    const answer = await exchange(socket, { method: 'POST', ...posting });
    judge(answer, deps.clock.now());
    limit.set(DRAIN_MS, 'no end');
    await drain(answer);
  } catch (error) {
    throw limit.reached ?? explained(error);
  } finally {
    limit.close();
  }
}

/** Throws for every status but 2xx. */
function judge({ statusCode: status = 0, headers }: IncomingMessage, now: number): void {
  if (status >= 200 && status < 300) return;
  const what = `answered ${status}`;
  if (status === 404 || status === 410) throw new DialFailed(what, 'gone');
  if (status === 429 || status === 503)
    throw new DialFailed(what, 'transient', retryAfter(headers['retry-after'], now));
  // A redirect could lead anywhere, so it is followed nowhere.
  if (status >= 300 && status < 400) throw new DialFailed(`${what}: redirects are not followed`);
  if ([400, 401, 403, 413].includes(status)) throw new DialFailed(what, 'refused');
  throw new DialFailed(what);
}

/** Milliseconds from seconds or a date; null for other text. */
function retryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_WAIT_MAX_MS) : null;
}

/**
 * The status decides the result. The body is read within bounds only to end the exchange cleanly; its faults are
 * ignored.
 */
async function drain(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The status has already accepted the message.
  }
  answer.destroy();
}

function explained(error: unknown): DialFailed {
  if (error instanceof DialFailed) return error;
  return new DialFailed(`the connection failed (${errorCode(error) ?? 'unknown error'})`);
}
