import type { CheckOptions } from '../../domain/checks/check.ts';
import { canonicalAddress } from '../../lib/ip/address.ts';
import { NameUnresolved } from '../../dial/dial-failed.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { ProbeDeps } from '../deps.ts';
import type { Finding } from '../finding.ts';

/**
 * Up when the name servers of the machine know the name, with the expected address among its addresses. The name is
 * complete: neither the hosts file nor the search list counts.
 */
export async function dns(
  { ask }: ProbeDeps,
  target: string,
  { expectAddr }: CheckOptions['dns'],
  signal: AbortSignal,
): Promise<Finding> {
  const addresses = await ask(target.replace(/\.$/, ''), signal).catch((error: unknown) => {
    throw new NameUnresolved('the name cannot be resolved', errorCode(error));
  });
  const found =
    expectAddr === null || addresses.some((each) => canonicalAddress(each) === canonicalAddress(expectAddr));
  return { detail: found ? 'ok' : 'value_unexpected' };
}
