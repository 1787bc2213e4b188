import { connect, type Socket } from 'node:net';
import { connectFirst } from '../../dial/connect-first.ts';
import type { Clock } from '../../lib/clock.ts';
import { splitHostPort } from '../../lib/host-port.ts';

/** Whether the network of this machine works, as far as one address that is always up can tell. */
export interface Canary {
  isReachable(): Promise<boolean>;
}

/** Longer than a connection takes, and short beside the time limit of a probe, in milliseconds. */
const CANARY_MS = 3_000;
/** How long an unreachable canary counts as such without another look, in milliseconds. */
const UNREACHABLE_MS = 1_000;

/**
 * Connects to the canary when it is asked for. A caller gets the answer of a connection that was begun after the call,
 * so that a canary that was reached before the network failed does not count; callers that wait share it.
 */
export function createCanary(clock: Clock, tries: () => Promise<boolean>): Canary {
  let running: Promise<boolean> | null = null;
  let next: Promise<boolean> | null = null;
  let unreachableUntil = Number.NEGATIVE_INFINITY;
  const begin = (): Promise<boolean> => {
    if (clock.monotonic() < unreachableUntil) return Promise.resolve(false);
    running = tries().then((reached) => {
      running = null;
      if (!reached) unreachableUntil = clock.monotonic() + UNREACHABLE_MS;
      return reached;
    });
    return running;
  };
  return {
    isReachable() {
      if (running === null) return begin();
      next ??= running.then(() => {
        next = null;
        return begin();
      });
      return next;
    },
  };
}

const open = (host: string, port: number): Socket => connect({ host, port });

/** Whether a TCP connection to `ip:port`, which the operator set, opens in time. Never rejects. */
export async function connects(clock: Clock, address: string): Promise<boolean> {
  const { host, port } = splitHostPort(address);
  const late = new AbortController();
  const cancel = clock.after(CANARY_MS, () => late.abort());
  try {
    const { socket } = await connectFirst({ addresses: [host], port }, { open, clock, signal: late.signal });
    socket.destroy();
    return true;
  } catch {
    return false;
  } finally {
    cancel();
  }
}
