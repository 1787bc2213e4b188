/**
 * Refuses what a page in a browser can send. A page can let its own name resolve to an address of this machine (DNS
 * rebinding) and is then, for the browser, of the same origin as the service; what gives it away is that name.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { allowsAddress, plainAddress } from '../../lib/ip/address.ts';
import { Failure } from '../../domain/failure.ts';
import { headerValues } from '../http/credentials.ts';
import { isOwnOrigin } from '../http/own-origin.ts';
import type { Peers } from '../http/peers.ts';

/** What the service is called. */
export interface OwnNames {
  readonly peers: Peers;
  /** The origin of `--public-url`; null without one. */
  readonly publicUrl?: string | null;
}

/** Throws forbidden. A request without Origin to an address that is not loopback has a program as its sender. */
export function refuseForeignPage(request: IncomingMessage, own: OwnNames): void {
  const isOwnName = (host: string): boolean => isOwn(host, own.publicUrl ?? null) || own.peers.isProxied(request);
  const hosts = headerValues(request, 'host');
  if (!hosts.every(isOwnName) && isOnLoopback(request)) {
    throw new Failure(
      'forbidden',
      'Host: not a name of this machine. Set --public-url to the URL of the service, or --trusted-proxy.',
    );
  }
  for (const origin of headerValues(request, 'origin')) {
    if (!hosts.some((host) => isOwnName(host) && isOwnOrigin(origin, host)))
      throw new Failure('forbidden', 'Origin: a page of another origin may not use this endpoint.');
  }
}

function isOnLoopback({ socket }: IncomingMessage): boolean {
  return allowsAddress('loopback', plainAddress(socket.localAddress ?? ''));
}

/** The usual names, without the cost of reading a URL. */
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** A browser sends an address only if it is what the page has been opened under. */
function isOwn(host: string, publicUrl: string | null): boolean {
  if (LOCAL.test(host)) return true;
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return true;
  return publicUrl !== null && hostname === new URL(publicUrl).hostname;
}
