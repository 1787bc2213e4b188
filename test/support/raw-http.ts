/** Bytes to a listener and back, for what no HTTP client would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An open connection; `from` is the address of this side. */
export async function open(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends the text and gathers what comes until the other side ends. */
export async function exchange(port: number, text: string | Buffer): Promise<string> {
  const socket = await open(port);
  socket.write(text);
  return untilClosed(socket);
}

/** What comes until the connection is closed, from now on. */
export function untilClosed(socket: Socket): Promise<string> {
  if (socket.closed) return Promise.resolve('');
  return new Promise((resolve) => {
    let got = '';
    socket.on('data', (chunk: Buffer) => (got += chunk.toString('latin1')));
    socket.on('close', () => resolve(got));
  });
}

/** Reads until what came holds `text`. */
export function untilHas(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = '';
    const take = (chunk: Buffer): void => {
      got += chunk.toString('latin1');
      if (!got.includes(text)) return;
      socket.off('data', take);
      resolve(got);
    };
    socket.on('data', take).once('close', () => reject(new Error(`the connection ended before ${text}; got ${got}`)));
  });
}

/** One request with `Connection: close`, as text. */
export function request(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Status and body of a raw answer. */
export function split(answer: string): { status: number; head: string; body: string } {
  const at = answer.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0),
    head: answer.slice(0, Math.max(0, at)),
    body: answer.slice(at + 4),
  };
}
