import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The longest interval of a timer, 25 days. */
const NEVER_MS = 2 ** 31 - 1;

/** A server of Node has the interval as a property, which its types lack. */
type Checking = Server & { connectionsCheckingInterval: number };

/**
 * Node looks for requests that arrive too slowly at an interval, also without a connection, and a wake-up of an
 * idle process takes 0.7 ms of a processor. Here that interval runs only while there is a connection: Node's own
 * listener of `listening` starts it, and when it is called again it starts it again.
 */
export function checkWhileConnected(server: Server, everyMs: number): void {
  const starts = server.listeners('listening');
  const restart = (ms: number): void => {
    (server as Checking).connectionsCheckingInterval = ms;
    for (const start of starts) start.call(server);
  };
  let open = 0;
  (server as Checking).connectionsCheckingInterval = NEVER_MS;
  server.prependListener('connection', (socket: Socket) => {
    open += 1;
    if (open === 1) restart(everyMs);
    socket.once('close', () => {
      open -= 1;
      // Node has ended the interval of a server that listens no more.
      if (open === 0 && server.listening) restart(NEVER_MS);
    });
  });
}
