import type { CheckOptions } from '../../domain/checks/check.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';
import { request } from '../request.ts';
import { holds, readMetric } from './metric-value.ts';

/** Up when the value that the URL answers with compares as expected. */
export function metric(
  deps: ProbeDeps,
  target: string,
  { op, value, pointer }: CheckOptions['metric'],
  signal: AbortSignal,
): Promise<Finding> {
  return request(
    deps,
    { url: new URL(target), method: 'GET' },
    async ({ status, text }) => {
      if (status < 200 || status >= 300) return 'status_unexpected';
      const read = readMetric((await Array.fromAsync(text('value_unreadable'))).join(''), pointer);
      if (read === null) return 'value_unreadable';
      return holds(read, op, value) ? 'ok' : 'value_unexpected';
    },
    signal,
  );
}
