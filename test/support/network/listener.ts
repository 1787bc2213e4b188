/** Servers on loopback that count what reaches them. */
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TlsOptions } from 'node:tls';
import type { Ending } from '../fixtures/installation.ts';

export interface Listener {
  readonly port: number;
  connections: number;
  bytes: number;
  close(): Promise<void>;
}

/** Calls `serve` with each connection. */
export function listen(ending: Ending, serve: (socket: Socket) => void = () => undefined): Promise<Listener> {
  return started(ending, createServer(serve));
}

export function listenHttp(ending: Ending, serve: RequestListener): Promise<Listener> {
  return started(ending, createHttp(serve));
}

export function listenTls(
  ending: Ending,
  options: TlsOptions,
  serve: (socket: Socket) => void = () => undefined,
): Promise<Listener> {
  const server = createTls(options, serve);
  server.on('tlsClientError', () => undefined);
  return started(ending, server);
}

async function started(ending: Ending, server: Server): Promise<Listener> {
  const sockets = new Set<Socket>();
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const listener = { port: 0, connections: 0, bytes: 0, close };
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    });
  server.on('connection', (socket: Socket) => {
    listener.connections += 1;
    socket.once('close', () => (listener.bytes += socket.bytesRead));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  listener.port = (server.address() as AddressInfo).port;
  ending.after(close);
  return listener;
}
