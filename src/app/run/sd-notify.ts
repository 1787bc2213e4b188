import { closeSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { openSystemCalls, type SystemCalls } from '../../runners/sandbox/kernel/system-call.ts';

/**
 * Messages of a service with `Type=notify` to systemd (sd_notify(3)): one datagram each, to the socket NOTIFY_SOCKET.
 * Node has no datagrams of that family, so the calls are made here.
 */
export interface ServiceManager {
  /** The service has started: units that come after it may start. */
  ready(status: string): void;
  stopping(): void;
}

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0x80002;
/** An error in place of a signal, and no wait for a manager whose queue is full. */
const MSG_NOSIGNAL_DONTWAIT = 0x4040;
/** The room for a path in `sockaddr_un`. */
const PATH_MAX_BYTES = 108;
/** A share of the time after which systemd takes the service for hung. */
const WATCHDOG_SHARE = 0.5;
const MICROSECONDS_A_MILLISECOND = 1_000;

const nothing = (): void => undefined;
const SILENT: ServiceManager = { ready: nothing, stopping: nothing };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The manager that started this process; without one, messages go nowhere. `onProblem` gets the error of each message
 * that could not be sent: the service works without, and systemd ends it when its start takes too long.
 */
export function serviceManager(env: Environment, clock: Clock, onProblem: (error: Error) => void): ServiceManager {
  const path = env['NOTIFY_SOCKET'];
  if (path === undefined || path === '') return SILENT;
  const send = (message: string): void => {
    try {
      sendDatagram(openSystemCalls(), path, message);
    } catch (error) {
      onProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };
  let stopWatchdog = nothing;
  return {
    ready(status) {
      send(`READY=1\nSTATUS=${status}\n`);
      const everyMs = watchdogMs(env);
      if (everyMs !== null) stopWatchdog = repeat(clock, everyMs * WATCHDOG_SHARE, () => send('WATCHDOG=1\n'));
    },
    stopping() {
      send('STOPPING=1\n');
      // It stays watched: a stop that hangs is ended by TimeoutStopSec.
      stopWatchdog();
    },
  };
}

/** How often systemd wants to hear of this process; null if never. */
function watchdogMs(env: Environment): number | null {
  const pid = env['WATCHDOG_PID'];
  if (pid !== undefined && pid !== String(process.pid)) return null;
  const ms = Number(env['WATCHDOG_USEC'] ?? Number.NaN) / MICROSECONDS_A_MILLISECOND;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

function repeat(clock: Clock, everyMs: number, work: () => void): () => void {
  let cancel = nothing;
  const next = (): void => {
    cancel = clock.after(everyMs, () => {
      work();
      next();
    });
  };
  next();
  return () => cancel();
}

function sendDatagram(system: SystemCalls, path: string, message: string): void {
  const { socket, sendto } = system.numbers.inspected;
  const fd = checked(system.call(socket, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0), 'socket');
  try {
    const address = unixAddress(path);
    const bytes = Buffer.from(message);
    checked(system.call(sendto, fd, bytes, bytes.length, MSG_NOSIGNAL_DONTWAIT, address, address.length), 'sendto');
  } finally {
    closeSync(fd);
  }
}

/** `sockaddr_un` without the rest of its room; a path that begins with @ is a name without a file. */
export function unixAddress(path: string): Buffer {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : path);
  if (name.length >= PATH_MAX_BYTES) throw new Error('the path in NOTIFY_SOCKET is too long');
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  return Buffer.concat([family, name]);
}

function checked(result: number, call: string): number {
  if (result < 0) throw new Error(`the service manager was not notified: ${call} failed with error ${-result}`);
  return result;
}
