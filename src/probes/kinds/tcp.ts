import { splitHostPort } from '../../lib/host-port.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';

/** Up when a connection opens. */
export async function tcp(
  { connect }: ProbeDeps,
  target: string,
  _options: unknown,
  signal: AbortSignal,
): Promise<Finding> {
  const { host, port } = splitHostPort(target);
  await connect(host, port, signal);
  return { detail: 'ok' };
}
