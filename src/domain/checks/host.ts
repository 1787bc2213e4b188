import { domainToASCII } from 'node:url';
import { hostPort } from '../../lib/host-port.ts';
import { canonicalAddress } from '../../lib/ip/address.ts';

const HOST_MAX = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A name with such an end is read as an IPv4 address in an old spelling, such as 127.1 or 0x7f000001. */
const NUMERIC = /^(?:\d+|0x[0-9a-f]*)$/;
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+)):([1-9]\d{0,4})$/;
const PORT_MAX = 65_535;

/** The canonical form of a host name: ASCII, lower case, without the dot at its end. Null for any other text. */
export function readHostName(text: string): string | null {
  if (text.length > HOST_MAX + 1) return null;
  const name = domainToASCII(text).toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  const isName = name.length <= HOST_MAX && labels.every((label) => LABEL.test(label));
  return isName && !NUMERIC.test(labels.at(-1) ?? '') ? name : null;
}

/** `10.0.0.5:443`, `[2001:db8::5]:443`. Null for a name. */
export function readAddressAndPort(text: string): string | null {
  const parts = splitPort(text);
  const address = parts === null ? null : canonicalAddress(parts.host);
  return parts === null || address === null || parts.isBracketed !== parts.host.includes(':')
    ? null
    : hostPort(address, parts.port);
}

/** As `readAddressAndPort`, and a host name in the place of the address. */
export function readHostAndPort(text: string): string | null {
  const parts = splitPort(text);
  if (parts === null || parts.isBracketed) return readAddressAndPort(text);
  const host = canonicalAddress(parts.host) ?? readHostName(parts.host);
  return host === null ? null : hostPort(host, parts.port);
}

function splitPort(
  text: string,
): { readonly host: string; readonly port: string; readonly isBracketed: boolean } | null {
  const [, bracketed, plain, port = ''] = WITH_PORT.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(port) > PORT_MAX ? null : { host, port, isBracketed: bracketed !== undefined };
}
