import type { CheckOptions, ProbeDetail } from '../../domain/checks/check.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';
import { request } from '../request.ts';

/** Up when the status is the expected one, and the body contains the expected text. */
export function http(
  deps: ProbeDeps,
  target: string,
  { expect, method, expectBody }: CheckOptions['http'],
  signal: AbortSignal,
): Promise<Finding> {
  return request(
    deps,
    { url: new URL(target), method },
    async ({ status, text }) => {
      if (!isExpected(status, expect)) return 'status_unexpected';
      return expectBody === null ? 'ok' : searched(text('body_unexpected'), expectBody);
    },
    signal,
  );
}

function isExpected(status: number, expect: number): boolean {
  return expect === 0 ? status >= 200 && status < 400 : status === expect;
}

/** Reads until the text was found, so that a body without an end can be up. */
async function searched(parts: AsyncIterable<string>, text: string): Promise<ProbeDetail> {
  let before = '';
  for await (const part of parts) {
    const read = before + part;
    if (read.includes(text)) return 'ok';
    // The text may begin in this part and end in the next one.
    before = read.slice(Math.max(0, read.length - text.length + 1));
  }
  return 'body_unexpected';
}
