import type { IncomingMessage } from 'node:http';
import type { CheckOptions } from '../../domain/checks/check.ts';
import type { ProbeDeps } from '../deps.ts';
import { Down, type Finding } from '../finding.ts';
import { holds, readMetric } from './metric-value.ts';
import { BODY_BYTES_MAX, request } from '../request.ts';

/** Up when the value that the URL answers with compares as expected. */
export async function metric(
  deps: ProbeDeps,
  target: string,
  { op, value, pointer }: CheckOptions['metric'],
  signal: AbortSignal,
): Promise<Finding> {
  const { message, status, seen } = await request(deps, { url: new URL(target), method: 'GET' }, signal);
  if (status < 200 || status >= 300) return { detail: 'status_unexpected', ...seen };
  const text = await textOf(message, seen);
  const read = text === null ? null : readMetric(text, pointer);
  if (read === null) return { detail: 'value_unreadable', ...seen };
  return { detail: holds(read, op, value) ? 'ok' : 'value_unexpected', ...seen };
}

/** The body as text; null if it is not UTF-8. */
async function textOf(message: IncomingMessage, seen: Partial<Finding>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Down({ ...seen, detail: 'too_large' });
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}
