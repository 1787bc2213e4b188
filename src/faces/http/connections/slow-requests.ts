import type { Server } from 'node:http';

/** The longest interval of a timer, 25 days. */
const NEVER_MS = 2 ** 31 - 1;

/** A server of Node has the interval as a property, which its types lack. */
type Checking = Server & { connectionsCheckingInterval: number };

/** Node's check of requests that arrive too slowly, off until it is started. */
export interface SlowRequestChecks {
  start(): void;
  stop(): void;
}

/**
 * Node makes that check at an interval, also without a connection, and a wake-up of an idle process takes 0.7 ms of a
 * processor. Node's own listener of `listening` starts the interval; when it is called again it starts it again.
 */
export function slowRequestChecks(server: Server, everyMs: number): SlowRequestChecks {
  const starts = server.listeners('listening');
  const restart = (ms: number): void => {
    (server as Checking).connectionsCheckingInterval = ms;
    for (const start of starts) start.call(server);
  };
  (server as Checking).connectionsCheckingInterval = NEVER_MS;
  return {
    start: () => restart(everyMs),
    stop() {
      // Node has ended the interval of a server that listens no more.
      if (server.listening) restart(NEVER_MS);
    },
  };
}
