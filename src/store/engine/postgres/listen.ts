import { pause, type Clock } from '../../../lib/clock.ts';
import type { Dialer } from './dial.ts';

/** Pause before a lost connection is opened again, in milliseconds. The loops' own fallbacks bridge it. */
const RETRY_MS = 500;

export interface Listening {
  stop(): Promise<void>;
}

interface ListenOptions {
  readonly dialer: Dialer;
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
  { dialer, channel, self, changed }: ListenOptions,
  signal: AbortSignal,
  first: boolean,
): Promise<void> {
  const dialled = await dialer.connect({}, signal).catch(() => null);
  // The server is not reachable: the next attempt follows.
  if (dialled === null) return;
  const { client } = dialled;
  const ended = new Promise<void>((resolve) => client.once('error', () => resolve()).once('end', () => resolve()));
  client.on('notification', (message) => {
    if (message.payload !== self) changed();
  });
  const end = (): void => void client.end().catch(() => undefined);
  signal.addEventListener('abort', end, { once: true });
  try {
    if (signal.aborted) return;
    await client.query(`listen ${channel}`);
    if (!first) changed();
    await ended;
  } catch {
    // The connection was lost: the next attempt follows.
  } finally {
    signal.removeEventListener('abort', end);
    await client.end().catch(() => undefined);
  }
}
