/**
 * A network of a test in place of the public one: names with public addresses, behind which listeners on loopback
 * stand. What the guard sees of it are the names, the addresses that they resolve to, and those that it reached.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { GuardOptions } from '../../../src/dial/guard.ts';
import type { Certificate } from './push-authority.ts';
import type { Ending } from '../fixtures/installation.ts';

export interface TestNetwork extends Pick<Required<GuardOptions>, 'resolve' | 'open'> {
  /** Puts a port of loopback behind a name; answers the URL of an endpoint there. */
  place(name: string, port: number): string;
}

/** The nth address of a range that is public, so that the guard lets it pass, and that no test reaches. */
export function publicAddress(n: number): string {
  return `93.184.215.${n + 1}`;
}

export function createNetwork(): TestNetwork {
  const addresses = new Map<string, string>();
  const ports = new Map<string, number>();
  return {
    place(name, port) {
      const address = publicAddress(addresses.size);
      addresses.set(name, address);
      ports.set(address, port);
      return `https://${name}/push`;
    },
    async resolve(name) {
      const address = addresses.get(name);
      if (address === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return [address];
    },
    open(address) {
      const socket = connect({ host: '127.0.0.1', port: ports.get(address) ?? 1 });
      return Object.defineProperty(socket, 'remoteAddress', { value: address });
    },
  };
}

/** A port of loopback without a listener. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Treats each connection in its own way, without TLS; answers the port. */
export async function serveTcp(ending: Ending, converse: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    converse(socket);
  });
  return openServer(ending, server);
}

/** As `serveTcp`, over TLS with the certificate of the name that the client asks for, which is '' for an address. */
export async function serveTls(
  ending: Ending,
  certificateOf: (name: string) => Certificate,
  converse: (socket: TLSSocket, name: string) => void,
): Promise<number> {
  const contexts = new Map<string, SecureContext>();
  const contextOf = (name: string): SecureContext => {
    const context = contexts.get(name) ?? createSecureContext(certificateOf(name));
    contexts.set(name, context);
    return context;
  };
  const server = createTls(
    { ...certificateOf(''), ALPNProtocols: ['http/1.1'], SNICallback: (name, done) => done(null, contextOf(name)) },
    (socket) => {
      socket.on('error', () => undefined);
      converse(socket, socket.servername || '');
    },
  );
  // The other side refused the certificate, which is what several tests are about.
  server.on('tlsClientError', () => undefined);
  return openServer(ending, server);
}

async function openServer(ending: Ending, server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
  });
  const port = await listen(server);
  ending.after(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return port;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}
