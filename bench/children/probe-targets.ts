/** Targets of probes: a TCP and an HTTP server, on every address of loopback. Says their ports. */
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { say } from '../kit/child.ts';

const BACKLOG = 4_096;

async function portOf(server: Server): Promise<number> {
  server.listen(0, '0.0.0.0', BACKLOG);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const tcp = createServer((socket) => socket.on('error', () => undefined).resume());
const http = createHttp((_request, response) => response.end('5'));
say({ tcp: await portOf(tcp), http: await portOf(http) });
