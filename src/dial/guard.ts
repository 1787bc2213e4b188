import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import { addressWords, allowsAddress, classifyAddress } from '../lib/ip/address.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { hostOfUrl } from '../lib/host-port.ts';
import { errorCode } from '../lib/error-code.ts';
import { connectFirst, type Open } from './connect-first.ts';
import { AddressForbidden, DialFailed, NameUnresolved } from './dial-failed.ts';
import { nameServers } from './name-servers.ts';
import type { Resolve } from './resolve.ts';
import { namedResolver } from './resolver.ts';

/** Queries the name servers within the connection limit of 3 s, so that a silent one is reported as such. */
export const resolvePublic: Resolve = nameServers(systemClock, { timeoutMs: 800, tries: 2, totalMs: 2_900 });

/** Which addresses may be dialled, and the words for it. */
export interface AddressPolicy {
  readonly allows: (address: string) => boolean;
  readonly only: string;
}

const PUBLIC: AddressPolicy = { allows: (address) => allowsAddress('push', address), only: 'only public ones' };
const ANY: AddressPolicy = { allows: () => true, only: 'all' };

/**
 * The addresses of a URL's host, when all of them are public. Throws DialFailed that names the class, not the address.
 */
export function publicAddresses(url: URL, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  return allowedAddresses(hostOfUrl(url), { resolve, policy: PUBLIC }, signal);
}

interface HostRules {
  readonly resolve: Resolve;
  readonly policy: AddressPolicy;
}

/**
 * The addresses of a host, when all of them are allowed; a single other one refuses them all, because the next answer
 * of the name server may put it first.
 */
async function allowedAddresses(
  host: string,
  { resolve, policy }: HostRules,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await resolved(host, resolve, signal) : [host];
  for (const address of addresses) {
    if (!policy.allows(address))
      throw new AddressForbidden(
        `the host resolves to ${addressWords(classifyAddress(address))}; ${policy.only} are dialled`,
      );
  }
  return addresses;
}

async function resolved(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(host, signal);
  } catch (error) {
    const code = errorCode(error);
    throw new NameUnresolved(`the host cannot be resolved (${code ?? 'no answer'})`, code);
  }
  if (addresses.length === 0) throw new NameUnresolved('the host has no address', 'ENODATA');
  return addresses;
}

/** Opens a TCP connection to a host, a name or an address. It closes when `signal` aborts, also later. */
export type Connect = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

interface ConnectorOptions extends HostRules {
  readonly clock?: Clock;
  /** Replaces the network in tests. */
  readonly open?: Open;
}

/**
 * The one way to connect to an address that a user gave: resolves, refuses unless all addresses are allowed, dials
 * these literals, and checks the address that was reached before a byte is sent.
 */
export function connector({
  resolve,
  policy,
  clock = systemClock,
  open = (host, port) => connectTcp({ host, port, autoSelectFamily: false }),
}: ConnectorOptions): Connect {
  return async (host, port, signal) => {
    signal.throwIfAborted();
    const addresses = await allowedAddresses(host, { resolve, policy }, signal);
    const { socket, address } = await connectFirst({ addresses, port }, { open, clock, signal });
    // Unknown if the other side has closed the connection already: then it is the address that was dialled.
    const reached = socket.remoteAddress ?? address;
    if (reached === address || policy.allows(reached)) return socket;
    socket.destroy();
    throw new AddressForbidden(
      `the connection reached ${addressWords(classifyAddress(reached))}; ${policy.only} are dialled`,
    );
  };
}

/** Opens a connection to the host of a URL. It closes when `signal` aborts, also later. */
export type Dial = (url: URL, signal: AbortSignal) => Promise<Socket>;

export interface GuardOptions {
  readonly resolve: Resolve;
  /** Certificate authorities of a test. */
  readonly tls?: SecureContextOptions;
  readonly open?: Open;
}

/** Dials registered endpoints: public addresses only. TLS is always verified, by the name in the URL. */
export function guardedDial({ tls = {}, ...rules }: GuardOptions): Dial {
  const connect = connector({ ...rules, policy: PUBLIC });
  return async (url, signal) => secured(url, await connect(hostOfUrl(url), portOf(url), signal), tls, signal);
}

/** Connects to targets that the operator named: any address. */
export const connectAnywhere: Connect = connector({ resolve: namedResolver({ ask: resolvePublic }), policy: ANY });

/** Dials targets that the operator named: any address, and TLS where the URL says so. */
export function openDial(tls: SecureContextOptions = {}): Dial {
  return async (url, signal) => {
    const socket = await connectAnywhere(hostOfUrl(url), portOf(url), signal);
    return url.protocol === 'https:' ? secured(url, socket, tls, signal) : socket;
  };
}

async function secured(url: URL, socket: Socket, tls: SecureContextOptions, signal: AbortSignal): Promise<Socket> {
  const host = hostOfUrl(url);
  const name = isIP(host) === 0 ? { servername: host } : { host };
  const secure = connectTls({ ...tls, ...name, socket, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] });
  const end = (): void => void secure.destroy();
  signal.addEventListener('abort', end);
  secure.once('close', () => signal.removeEventListener('abort', end));
  await new Promise<void>((resolve, reject) => {
    secure.once('secureConnect', resolve);
    secure.on('error', (error) => {
      secure.destroy();
      reject(error);
    });
    secure.once('close', () => reject(new DialFailed('the connection was closed before it was ready')));
  });
  return secure;
}

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}
