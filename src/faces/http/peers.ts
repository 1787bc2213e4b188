import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import {
  type AddressSet,
  addressSet,
  allowsAddress,
  canonicalAddress,
  customerPrefix,
  plainAddress,
} from '../../lib/ip/address.ts';

/** Addresses read of one X-Forwarded-For, from its end: more than any real chain of proxies. */
const FORWARDED_ADDRESSES_MAX = 16;
/** Characters of one of them: an IPv6 address in brackets with its port has 47. */
const FORWARDED_CHARACTERS_MAX = 64;

/** The sender of a request, as far as it is known. */
interface Peer {
  /** In canonical form. Empty if the connection has ended already. */
  readonly address: string;
  /** Whether a trusted proxy reports that the client uses https. */
  readonly https: boolean;
}

/** Addresses whose connections and requests are not counted. A test replaces it to treat loopback as foreign. */
type IsUncounted = (address: string) => boolean;

const isLoopback: IsUncounted = (address) => allowsAddress('loopback', address);
const NO_PEERS: AddressSet = { includes: () => false };

/**
 * Determines the peer of a connection or a request. It is the socket address, unless that is a trusted proxy: then the
 * last address of X-Forwarded-For that is not itself a trusted proxy is the peer. Loopback is not trusted by itself.
 */
export class Peers {
  readonly #trusted: AddressSet;
  readonly #isUncounted: IsUncounted;
  readonly #keys = new WeakMap<Socket, string>();

  constructor(trusted: readonly string[] = [], isUncounted: IsUncounted = isLoopback) {
    this.#trusted = trusted.length === 0 ? NO_PEERS : (addressSet(trusted) ?? NO_PEERS);
    this.#isUncounted = isUncounted;
  }

  of(request: IncomingMessage): Peer {
    const socket = plainAddress(request.socket.remoteAddress ?? '');
    if (!this.#isTrusted(socket)) return { address: socket, https: false };
    // Node joins repeated headers with commas, in their order.
    return {
      address: this.#forwardedFor(socket, joined(request.headers['x-forwarded-for'])),
      https: isHttps(joined(request.headers['x-forwarded-proto'])),
    };
  }

  /**
   * The key by which the connections of a socket are counted: its address or IPv6 /64; null for loopback and trusted
   * proxies.
   */
  connectionKey(socket: Socket): string | null {
    const address = plainAddress(socket.remoteAddress ?? '');
    return this.#isTrusted(address) ? null : this.#key(address);
  }

  /**
   * The key by which the requests of a trusted proxy are counted: the peer behind it. Null if the connection itself is
   * counted, and for loopback.
   */
  requestKey(request: IncomingMessage): string | null {
    // The usual case, on each request: skip reading the address.
    if (this.#trusted === NO_PEERS) return null;
    return this.#isTrusted(plainAddress(request.socket.remoteAddress ?? ''))
      ? this.#key(this.of(request).address)
      : null;
  }

  /**
   * The key by which requests take turns: that of the client behind a trusted proxy, else of the connection. On this
   * machine, where a peer may be a proxy for many, each connection is one.
   */
  turnKey(request: IncomingMessage): string {
    const { socket } = request;
    if (this.isProxied(request)) return this.#key(this.of(request).address) ?? ownKey(socket);
    // Kept, because each request asks.
    return this.#keys.getOrInsertComputed(socket, () => this.connectionKey(socket) ?? ownKey(socket));
  }

  /** Whether a trusted proxy sent the request. */
  isProxied(request: IncomingMessage): boolean {
    return this.#trusted !== NO_PEERS && this.#isTrusted(plainAddress(request.socket.remoteAddress ?? ''));
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.includes(address);
  }

  #key(address: string): string | null {
    if (isIP(address) === 0) return 'unknown';
    return this.#isUncounted(address) ? null : customerPrefix(address);
  }

  /**
   * Reads from the end, because a client may have written the beginning. An unreadable entry ends the reading: the
   * nearest known address is used.
   */
  #forwardedFor(socket: string, header: string): string {
    let [nearest, end] = [socket, header.length];
    for (let count = 0; count < FORWARDED_ADDRESSES_MAX && end > 0; count += 1) {
      const start = header.lastIndexOf(',', end - 1) + 1;
      const address = end - start > FORWARDED_CHARACTERS_MAX ? null : forwardedAddress(header.slice(start, end).trim());
      if (address === null) return nearest;
      nearest = address;
      if (!this.#trusted.includes(address)) return address;
      end = start - 1;
    }
    return nearest;
  }
}

function ownKey({ remotePort }: Socket): string {
  return `port ${remotePort ?? 0}`;
}

/** `1.2.3.4`, `1.2.3.4:80`, `[::1]`, `[::1]:80` and `::1`, also in quotes. */
function forwardedAddress(text: string): string | null {
  const [, , bracketed, plain] = /^("?)(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})\1$/.exec(text) ?? [];
  return canonicalAddress(bracketed ?? plain ?? text.replace(/^"(.*)"$/, '$1'));
}

/** The last of several: that of the nearest proxy. */
function isHttps(header: string): boolean {
  return (
    header
      .slice(header.lastIndexOf(',') + 1)
      .trim()
      .toLowerCase() === 'https'
  );
}

function joined(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : (header ?? []).join(',');
}
