import { isIP } from 'node:net';
import type { CheckOptions } from '../../domain/checks/check.ts';
import { splitHostPort } from '../../lib/host-port.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';
import { handshake } from '../handshake.ts';

/**
 * Up when the certificate is valid for `minDays` more. Its chain is verified, and its name where the target has one: an
 * address says nothing about the names that are served there.
 */
export async function tls(
  deps: ProbeDeps,
  target: string,
  { minDays }: CheckOptions['tls'],
  signal: AbortSignal,
): Promise<Finding> {
  const { host, port } = splitHostPort(target);
  const raw = await deps.connect(host, port, signal);
  const { certificate } = await handshake(deps, raw, { host, checkName: isIP(host) === 0 });
  if (certificate.detail !== 'ok' || certificate.certificateDays >= minDays) return certificate;
  return { ...certificate, detail: 'certificate_expires_soon' };
}
