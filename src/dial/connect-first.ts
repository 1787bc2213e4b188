import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { DialFailed } from './dial-failed.ts';

/** Opens a socket to an address literal. */
export type Open = (address: string, port: number) => Socket;

/** Until the next address is tried as well, as RFC 8305 recommends. */
const NEXT_ADDRESS_MS = 250;
/** More than a name in use has; each is one connection. */
const ADDRESSES_MAX = 16;

const NO_TIMER = (): void => undefined;

interface Destination {
  readonly addresses: readonly string[];
  readonly port: number;
}

interface Connected {
  readonly socket: Socket;
  /** The one of the addresses that was dialled. */
  readonly address: string;
}

/**
 * Connects to the first of these addresses that answers (RFC 8305): the next one is tried when the last one failed or
 * is silent for a quarter of a second, and the slower ones stay in the race. Rejects with the error that says most.
 * The socket closes when `signal` aborts, also later.
 */
export async function connectFirst(
  { addresses, port }: Destination,
  { open, clock, signal }: { readonly open: Open; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Connected> {
  signal.throwIfAborted();
  const remaining = alternating(addresses).slice(0, ADDRESSES_MAX).values();
  const sockets = new Set<Socket>();
  const won = Promise.withResolvers<Connected>();
  let isOver = false;
  let error: Error | null = null;
  let stopTimer = NO_TIMER;
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
    won.reject(signal.reason);
  };
  const forget = (): void => signal.removeEventListener('abort', end);
  signal.addEventListener('abort', end);
  const tryNext = (): void => {
    stopTimer();
    const { value: address } = remaining.next();
    if (address === undefined) {
      if (sockets.size === 0) won.reject(error ?? new DialFailed('the host has no address'));
      return;
    }
    const socket = open(address, port);
    sockets.add(socket);
    socket.once('connect', () => won.resolve({ socket, address }));
    // The user of the socket handles its errors too; between two users there is no other handler.
    socket.on('error', (failed) => (error = moreTelling(error, failed)));
    socket.once('close', () => {
      sockets.delete(socket);
      if (!isOver) tryNext();
      else if (sockets.size === 0) forget();
    });
    if (addresses.length > 1) stopTimer = clock.after(NEXT_ADDRESS_MS, tryNext);
  };
  tryNext();
  try {
    const winner = await won.promise;
    for (const socket of sockets) if (socket !== winner.socket) socket.destroy();
    return winner;
  } catch (failed) {
    forget();
    throw failed;
  } finally {
    isOver = true;
    stopTimer();
  }
}

/** A refusal came from the target; that there is no way to another address says less. */
function moreTelling(before: Error | null, after: Error): Error {
  return before === null || errorCode(after) === 'ECONNREFUSED' ? after : before;
}

/** IPv4 and IPv6 in turn: a family that this machine has no way to delays the other one once. */
function alternating(addresses: readonly string[]): readonly string[] {
  if (addresses.length < 2) return addresses;
  const [six, four] = [addresses.filter(isIPv6), addresses.filter(isIPv4)];
  return Array.from({ length: Math.max(six.length, four.length) }, (_, i) => [four[i], six[i]])
    .flat()
    .filter((address) => address !== undefined);
}
