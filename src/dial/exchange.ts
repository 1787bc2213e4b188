import { request as requestHttp, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The longest response head. */
const HEAD_BYTES_MAX = 16_384;

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/**
 * One request on its own connection, until the head of the response. Follows no redirect. The body ends with the error
 * of the connection, if it has one.
 */
export function exchange(socket: Socket, { method, url, headers, body }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = requestHttp({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        'user-agent': 'gatehouse',
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        connection: 'close',
      },
      maxHeaderSize: HEAD_BYTES_MAX,
    });
    request.once('response', (answer) => {
      answer.on('error', () => undefined);
      request.on('error', (error) => answer.destroy(error));
      resolve(answer);
    });
    request.once('upgrade', resolve);
    request.on('error', reject);
    // Of a connection that ended before the request began to listen.
    socket.once('close', () => reject(socket.errored ?? hangUp()));
    if (socket.closed) reject(socket.errored ?? hangUp());
    request.end(body);
  });
}

function hangUp(): Error {
  return Object.assign(new Error('the connection was closed before the answer'), { code: 'ECONNRESET' });
}
