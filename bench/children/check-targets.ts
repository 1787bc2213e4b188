/** Targets of checks: every address of this network answers on two ports. Counts the connections and the requests. */
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { orders, say } from '../kit/child.ts';

export const TCP_PORT = 7_000;
export const HTTP_PORT = 7_001;

export interface Answered {
  readonly connections: number;
  readonly requests: number;
}

async function main(): Promise<void> {
  let [connections, requests] = [0, 0];
  const tcp = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.destroy();
  });
  const http = createHttp((_request, response) => {
    requests += 1;
    response.end('ok');
  });
  tcp.listen(TCP_PORT, '0.0.0.0', 4_096);
  http.listen(HTTP_PORT, '0.0.0.0', 4_096);
  await Promise.all([once(tcp, 'listening'), once(http, 'listening')]);
  say({ connections, requests });
  const asked = orders<object>();
  while ((await asked.next()).done !== true) say({ connections, requests });
  process.exit();
}

if (import.meta.main) await main();
