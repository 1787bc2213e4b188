import { Client, type ClientConfig } from 'pg';
import { pause, type Clock } from '../../../lib/clock.ts';

/** Pause before a lost connection is opened again, in milliseconds. The loops' own fallbacks bridge it. */
const RETRY_MS = 500;

export interface Listening {
  stop(): Promise<void>;
}

interface ListenOptions {
  readonly config: ClientConfig;
  readonly channel: string;
  /** The payload of the notifications of this process, which are ignored. */
  readonly self: string;
  readonly clock: Clock;
  readonly changed: () => void;
}

/**
 * A connection that only listens. It is opened again when it is lost, until `stop`. Each reconnection calls back too,
 * because anything may have changed while it was lost.
 */
export function listen(options: ListenOptions): Listening {
  const stopping = new AbortController();
  const running = keepListening(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function keepListening(options: ListenOptions, signal: AbortSignal): Promise<void> {
  for (let first = true; !signal.aborted; first = false) {
    await listenOnce(options, signal, first);
    await pause(options.clock, RETRY_MS, signal);
  }
}

/** Resolves when the connection has ended, or could not be made. */
async function listenOnce(
  { config, channel, self, changed }: ListenOptions,
  signal: AbortSignal,
  first: boolean,
): Promise<void> {
  const client = new Client(config);
  // Handled for the whole life: an unhandled error of a connection would end the process.
  const ended = new Promise<void>((resolve) => client.on('error', () => resolve()).on('end', () => resolve()));
  client.on('notification', (message) => {
    if (message.payload !== self) changed();
  });
  const end = (): void => void client.end().catch(() => undefined);
  signal.addEventListener('abort', end, { once: true });
  try {
    // The driver never settles `connect` of a client that is ended during it: a verb would not end after its answer.
    await Promise.race([client.connect(), ended]);
    if (signal.aborted) return;
    await client.query(`listen ${channel}`);
    if (!first) changed();
    await ended;
  } catch {
    // The server is not reachable: the next attempt follows.
  } finally {
    signal.removeEventListener('abort', end);
    await client.end().catch(() => undefined);
  }
}
