import type { Entry } from '../../../../domain/configuration/change.ts';
import { LeftOut } from './reading/fields.ts';
import type { Subject } from './imported.ts';

/** What a check of kind dns asks for. */
const ADDRESS_TYPES = ['A', 'AAAA'];

/**
 * Throws LeftOut for a check of DNS with its own name server, or for another record than an address: another server may
 * know another answer, and a name may have an address without that record.
 */
export function requireAddressLookup({ losses }: Subject, server: string | null, type: string): void {
  if (server !== null)
    throw new LeftOut(`it asks the name server ${shown(server)}; a check asks only those of the system`);
  if (!ADDRESS_TYPES.includes(type))
    throw new LeftOut(`it asks for a DNS record of type ${shown(type)}; a check asks only for an address`);
  if (type !== 'A') losses.push(`it looks for an address instead of a record of type ${type}`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** The method of a check of kind http, which is GET or HEAD; notes another one. */
export function methodFields({ losses }: Subject, method: string, expectsBody: boolean): Entry {
  // An answer to HEAD has no body to look at.
  if (method === 'HEAD' && !expectsBody) return { method };
  if (method !== 'GET') losses.push(`the method is GET instead of ${method.slice(0, 20)}`);
  return {};
}

/** Notes that the other program accepts a certificate that a check refuses. */
export function noteVerified({ losses }: Subject, isInsecure: boolean | null): void {
  if (isInsecure === true) losses.push('its certificate is verified');
}

/** Notes the statuses that the other program accepts, where a check without `expect` accepts others too. */
export function noteAnyStatus({ losses }: Subject, accepted: string): void {
  losses.push(`every status of 2xx and 3xx is accepted instead of ${accepted.slice(0, 100)}`);
}
