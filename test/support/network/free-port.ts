import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** For a program that cannot choose one itself. Another process may take it before that program binds it: try again. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
