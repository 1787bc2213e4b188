import { Resolver } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import { addressWords, allowsAddress, classifyAddress } from '../domain/netgroups/address.ts';
import { errorCode } from '../lib/error-code.ts';
import { namedResolver, type Resolve } from './resolver.ts';

/** A send failed. The text is ours: it contains no URL and no text of the other side. */
export class DialFailed extends Error {
  /** The pause that the other side asked for, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** `gone`: send nothing more to this target. `refused`: the same message would be refused again. */
  readonly kind: 'transient' | 'refused' | 'gone';

  constructor(message: string, kind: DialFailed['kind'] = 'transient', retryAfterMs: number | null = null) {
    super(message);
    this.name = 'DialFailed';
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The first question to a name server, in milliseconds, and how often each is asked; the second waits twice as long. So
 * a silent one is reported as such before the connection limit of 3 s.
 */
const RESOLVE_TIMEOUT_MS = 800;
const RESOLVE_TRIES = 2;

/** Queries the name servers directly: the hosts file and the search list are not part of the public name space. */
export const resolvePublic: Resolve = async (name, signal) => {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
  // With several silent name servers the queries would take longer than a send may.
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal.removeEventListener('abort', cancel);
  const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length > 0) return addresses;
  const failed = found.find((each) => each.status === 'rejected');
  throw failed?.reason ?? new Error('no address');
};

/** The host without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * The addresses of a URL's host, when all of them are public; a single other one refuses them all, because the next
 * answer of the name server may put it first. Throws DialFailed that names the class, not the address.
 */
export async function publicAddresses(url: URL, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolved(host, resolve, signal) : [host];
  for (const address of addresses) {
    if (!allowsAddress('push', address))
      throw new DialFailed(
        `the host resolves to ${addressWords(classifyAddress(address))}; only public ones are dialled`,
      );
  }
  return addresses;
}

async function resolved(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(host, signal);
  } catch (error) {
    throw new DialFailed(`the host cannot be resolved (${errorCode(error) ?? 'no answer'})`);
  }
  if (addresses.length === 0) throw new DialFailed('the host has no address');
  return addresses;
}

/** Opens a connection to the host of a URL. It closes when `signal` aborts, also later. */
export type Dial = (url: URL, signal: AbortSignal) => Promise<Socket>;

export interface GuardOptions {
  readonly resolve: Resolve;
  /** Certificate authorities of a test. */
  readonly tls?: SecureContextOptions;
  /** Replaces the network in tests: opens a socket to a literal. */
  readonly open?: (address: string, port: number) => Socket;
}

/**
 * Dials registered endpoints: resolves, refuses unless all addresses are public, dials one of these literals, and
 * checks the address that was reached before a byte is sent. TLS is always verified, by the name in the URL.
 */
export function guardedDial({
  resolve,
  tls = {},
  open = (host, port) => connectTcp({ host, port, autoSelectFamily: false }),
}: GuardOptions): Dial {
  return async (url, signal) => {
    const [address] = await publicAddresses(url, resolve, signal);
    if (address === undefined) throw new DialFailed('the host has no address');
    signal.throwIfAborted();
    const socket = endedBy(signal, open(address, portOf(url)));
    await event(socket, 'connect');
    const reached = socket.remoteAddress ?? '';
    if (!allowsAddress('push', reached)) {
      socket.destroy();
      throw new DialFailed(
        `the connection reached ${addressWords(classifyAddress(reached))}; only public ones are dialled`,
      );
    }
    return secured(url, socket, tls, signal);
  };
}

const resolveNamed = namedResolver({ ask: resolvePublic });

/** Dials targets that the operator named: any address, and TLS where the URL says so. */
export function openDial(tls: SecureContextOptions = {}): Dial {
  return async (url, signal) => {
    signal.throwIfAborted();
    // Called only for names, and for all of their addresses, which are tried in turn.
    const lookup: LookupFunction = (name, _options, answer) => {
      void resolved(name, resolveNamed, signal).then(
        (addresses) =>
          answer(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          ),
        (error: NodeJS.ErrnoException) => answer(error, []),
      );
    };
    const socket = endedBy(
      signal,
      connectTcp({ host: hostOf(url), port: portOf(url), autoSelectFamily: true, lookup }),
    );
    await event(socket, 'connect');
    return url.protocol === 'https:' ? secured(url, socket, tls, signal) : socket;
  };
}

async function secured(url: URL, socket: Socket, tls: SecureContextOptions, signal: AbortSignal): Promise<Socket> {
  const host = hostOf(url);
  const name = isIP(host) === 0 ? { servername: host } : { host };
  const secure = endedBy(
    signal,
    connectTls({ ...tls, ...name, socket, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }),
  );
  await event(secure, 'secureConnect');
  return secure;
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

function endedBy(signal: AbortSignal, socket: Socket): Socket {
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
  // The user of the socket handles its errors; between two users there is no other handler.
  socket.on('error', () => undefined);
  return socket;
}

function event(socket: Socket, name: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve());
    socket.once('error', (error) => {
      socket.destroy();
      reject(error);
    });
    socket.once('close', () => reject(new DialFailed('the connection was closed before it was ready')));
  });
}
