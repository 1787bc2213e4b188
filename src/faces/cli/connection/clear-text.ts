import { allowsAddress } from '../../../lib/ip/address.ts';
import { line } from '../../text/safe.ts';

/** The warning before the token is sent to this http URL; null where it does not leave this machine. */
export function clearTextWarning(remote: string): string | null {
  const { hostname } = new URL(remote);
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost') || allowsAddress('loopback', host)) return null;
  return line(
    `Warning: the token and the answers travel unencrypted to ${remote}. Use https, or --insecure in a network that ` +
      'you trust.',
  );
}
