import { formatDuration } from '../../../domain/duration.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** In milliseconds. */
interface Limits {
  /** For TCP, and again for TLS; an operating system may wait for minutes. */
  readonly connect: number;
  /** Without a byte of the answer. */
  readonly silence: number;
}

const LIMITS: Limits = { connect: 10_000, silence: 300_000 };

/** The message of the error where no connection was established in time: the server has seen nothing. */
export const NOT_CONNECTED = `no connection within ${formatDuration(LIMITS.connect)}`;

/**
 * Sends a request, and resolves to the answer once its head has arrived; the caller reads or destroys it. Redirects are
 * not followed: one could send the token to another server. Rejects with the error of the connection.
 */
export function send(url: string, sending: Sent, limits = LIMITS): Promise<IncomingMessage> {
  const { method, headers, body, signal } = sending;
  const isTls = url.startsWith('https:');
  // `fetch`, and an import of these modules, load undici: 40 ms, more than an empty Node needs to start.
  const { request } = process.getBuiltinModule(isTls ? 'node:https' : 'node:http');
  // Without it the body of a DELETE has no end.
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers, ...length }, signal, timeout: limits.connect };
    const sent = request(url, options, resolve);
    let late = NOT_CONNECTED;
    const connected = (socket: Socket): void => {
      late = `no answer within ${formatDuration(limits.silence)}`;
      socket.setTimeout(limits.silence);
    };
    sent.on('socket', (socket) => {
      if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', () => connected(socket));
      else connected(socket);
    });
    sent.on('timeout', () => sent.destroy(new Error(late)));
    sent.on('error', reject);
    sent.end(body);
  });
}
