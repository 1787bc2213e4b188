import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** In milliseconds; an operating system may wait for minutes. */
const CONNECT_MAX_MS = 10_000;
/** In milliseconds, without a byte of the answer. */
const SILENCE_MAX_MS = 300_000;

/** The message of the error where no connection was established in time: the server has seen nothing. */
export const NOT_CONNECTED = `no connection within ${CONNECT_MAX_MS / 1000} s`;

/**
 * Sends a request, and resolves to the answer once its head has arrived; the caller reads or destroys it. Redirects are
 * not followed: one could send the token to another server. Rejects with the error of the connection.
 */
export function send(url: string, { method, headers, body, signal }: Sent): Promise<IncomingMessage> {
  // `fetch`, and an import of these modules, load undici: 40 ms, more than an empty Node needs to start.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  // Without it the body of a DELETE has no end.
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, ...length }, signal, timeout: CONNECT_MAX_MS }, resolve);
    let late = NOT_CONNECTED;
    const connected = (socket: Socket): void => {
      late = `no answer within ${SILENCE_MAX_MS / 1000} s`;
      socket.setTimeout(SILENCE_MAX_MS);
    };
    sent.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => connected(socket));
      else connected(socket);
    });
    sent.on('timeout', () => sent.destroy(new Error(late)));
    sent.on('error', reject);
    sent.end(body);
  });
}
