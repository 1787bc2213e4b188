import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';

/** Up when the address answers an echo request. */
export function ping(
  { ping: send }: ProbeDeps,
  target: string,
  _options: unknown,
  signal: AbortSignal,
): Promise<Finding> {
  return send(target, signal);
}
