import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';
import { hostAndPort } from '../host-and-port.ts';

/** Up when a connection opens. */
export async function tcp(
  { connect }: ProbeDeps,
  target: string,
  _options: unknown,
  signal: AbortSignal,
): Promise<Finding> {
  const { host, port } = hostAndPort(target);
  await connect(host, port, signal);
  return { detail: 'ok' };
}
