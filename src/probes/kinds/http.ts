import type { IncomingMessage } from 'node:http';
import type { CheckOptions, ProbeDetail } from '../../domain/checks/check.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';
import { BODY_BYTES_MAX, request } from '../request.ts';

/** Up when the status is the expected one, and the body contains the expected text. */
export async function http(
  deps: ProbeDeps,
  target: string,
  { expect, method, expectBody }: CheckOptions['http'],
  signal: AbortSignal,
): Promise<Finding> {
  const { message, status, seen } = await request(deps, { url: new URL(target), method }, signal);
  if (!isExpected(status, expect)) return { detail: 'status_unexpected', ...seen };
  return { detail: expectBody === null ? 'ok' : await searched(message, Buffer.from(expectBody)), ...seen };
}

function isExpected(status: number, expect: number): boolean {
  return expect === 0 ? status >= 200 && status < 400 : status === expect;
}

/** Reads until the text was found, so that a body without an end can be up. */
async function searched(message: IncomingMessage, text: Buffer): Promise<ProbeDetail> {
  let bytes = 0;
  let before: Uint8Array = Buffer.alloc(0);
  for await (const chunk of message as AsyncIterable<Buffer>) {
    const part = Buffer.concat([before, chunk.subarray(0, BODY_BYTES_MAX - bytes)]);
    if (part.includes(text)) return 'ok';
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return 'too_large';
    // The text may begin in this chunk and end in the next one.
    before = part.subarray(Math.max(0, part.length - text.length + 1));
  }
  return 'body_unexpected';
}
