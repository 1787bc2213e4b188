import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import {
  type AddressSet,
  addressSet,
  allowsAddress,
  canonicalAddress,
  customerPrefix,
} from '../../domain/netgroups/address.ts';
import { plainAddress } from '../../domain/netgroups/netgroup.ts';

/** Addresses read of one X-Forwarded-For, from its end: far more than proxies stand in a row. */
const FORWARDED_ADDRESSES_MAX = 16;
/** Characters of one of them: an IPv6 address in brackets with its port has 47. */
const FORWARDED_CHARACTERS_MAX = 64;

/** Who sends a request, as far as it is known. */
interface Peer {
  /** In canonical form. Empty when the connection ended before anybody asked. */
  readonly address: string;
  /** Whether a trusted proxy says that the client speaks https to it. */
  readonly https: boolean;
}

/** Whose connections and requests are not counted by address. A test replaces it to treat loopback as foreign. */
type IsUncounted = (address: string) => boolean;

const isLoopback: IsUncounted = (address) => allowsAddress('loopback', address);
const NOBODY: AddressSet = { includes: () => false };

/**
 * Finds out who is behind a connection or a request. The socket decides, unless it is that of a trusted proxy: then the
 * last address of X-Forwarded-For that is not itself a trusted proxy is the peer. Loopback is not trusted by itself.
 */
export class Peers {
  readonly #trusted: AddressSet;
  readonly #isUncounted: IsUncounted;

  constructor(trusted: readonly string[] = [], isUncounted: IsUncounted = isLoopback) {
    this.#trusted = trusted.length === 0 ? NOBODY : (addressSet(trusted) ?? NOBODY);
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
   * By what the connections of a socket are counted: its address, the /64 of IPv6; null for loopback and trusted
   * proxies.
   */
  connectionKey(socket: Socket): string | null {
    const address = plainAddress(socket.remoteAddress ?? '');
    return this.#isTrusted(address) ? null : this.#key(address);
  }

  /**
   * By what the requests of a trusted proxy are counted: the peer behind it. Null where the connection itself is
   * counted, and for loopback.
   */
  requestKey(request: IncomingMessage): string | null {
    // Usual, and asked for each request: the address need not be read.
    if (this.#trusted === NOBODY) return null;
    return this.#isTrusted(plainAddress(request.socket.remoteAddress ?? ''))
      ? this.#key(this.of(request).address)
      : null;
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.includes(address);
  }

  #key(address: string): string | null {
    if (isIP(address) === 0) return 'unknown';
    return this.#isUncounted(address) ? null : customerPrefix(address);
  }

  /**
   * Reads from the end, because a client may have written the beginning. What cannot be read ends the reading: the
   * nearest address that is known counts.
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
