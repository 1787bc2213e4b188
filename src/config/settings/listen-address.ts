import { isIP } from 'node:net';
import { allowsAddress } from '../../lib/ip/address.ts';
import { refuseSetting } from './refuse-setting.ts';

/** An address to listen on. `host` is the given text: a name is resolved when the listener is bound. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`; throws invalid_argument that names the flag. */
export function readAddress(flag: string, text: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3] ?? Number.NaN);
  if (match === null || !(port <= 65_535)) refuseSetting(flag, 'expected host:port or [ipv6]:port');
  if (match[1] !== undefined && isIP(match[1]) !== 6)
    refuseSetting(flag, 'expected an IPv6 address between the brackets');
  return { host: host === '' ? '0.0.0.0' : host, port };
}

/** Addresses that only this machine reaches. A name other than localhost counts as reachable from outside. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || allowsAddress('loopback', host);
}
