import { isIPv4 } from 'node:net';
import { Failure } from '../../domain/failure.ts';
import type { AddressPolicy } from '../../dial/guard.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { randomBytes } from '../../lib/random.ts';
import type { Finding } from '../finding.ts';
import { type EchoSocket, openEchoSocket, TOKEN_BYTES } from './echo-socket.ts';
import { PING_SECONDS, pingByProgram } from './program.ts';

/** Echo requests to an address until one is answered. Rejects with a Failure if this machine cannot send any. */
export type Ping = (address: string, signal: AbortSignal) => Promise<Finding>;

const BETWEEN_REQUESTS_MS = 1_000;

/**
 * Pings by a socket of this process where the kernel grants one, else by the program `ping`. All pings of a family
 * share a socket.
 */
export function pinger(clock: Clock, policy: AddressPolicy): { readonly ping: Ping; readonly close: () => void } {
  const waiting = new Map<string, () => void>();
  const sockets = new Map<boolean, Promise<EchoSocket | null>>();
  const answered = (token: Buffer): void => waiting.get(token.toString('hex'))?.();
  const socketFor = async (address: string): Promise<EchoSocket | null> => {
    const isFour = isIPv4(address);
    const opening = sockets.get(isFour) ?? openEchoSocket(address, answered);
    sockets.set(isFour, opening);
    const socket = await opening;
    // The range of groups can change while the service runs.
    if (socket === null) sockets.delete(isFour);
    return socket;
  };

  async function byEcho(socket: EchoSocket, address: string, signal: AbortSignal): Promise<Finding> {
    const token = randomBytes(TOKEN_BYTES);
    const reply = new AbortController();
    const found = AbortSignal.any([reply.signal, signal]);
    waiting.set(token.toString('hex'), () => reply.abort());
    try {
      for (let sequence = 1; sequence <= PING_SECONDS && !found.aborted; sequence += 1) {
        await socket.send(address, token, sequence);
        await pause(clock, BETWEEN_REQUESTS_MS, found);
      }
      return { detail: reply.signal.aborted ? 'ok' : 'timeout' };
    } finally {
      waiting.delete(token.toString('hex'));
    }
  }

  return {
    async ping(address, signal) {
      if (!policy.allows(address)) return { detail: 'forbidden_address' };
      const socket = await socketFor(address);
      if (socket !== null) return byEcho(socket, address, signal);
      const finding = await pingByProgram(address, signal);
      if (finding !== null) return finding;
      throw new Failure(
        'not_implemented',
        'ping: this machine can send no echo requests; install the program ping, or let the group of the service ' +
          'send them with the sysctl net.ipv4.ping_group_range',
      );
    },
    close() {
      for (const opening of sockets.values()) void opening.then((socket) => socket?.close());
      sockets.clear();
    },
  };
}
