import { closeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { processEnvironment } from '../../config/settings/settings.ts';
import type { ListenAddress } from '../../config/settings/listen-address.ts';
import { runningProgram } from '../../config/program/digest.ts';
import type { KeptSockets } from '../../faces/http/server.ts';
import { passingCapabilities } from '../../runners/account/capabilities.ts';
import { openSystemCalls } from '../../runners/sandbox/kernel/system-call.ts';

/**
 * What a daemon that restarts in place leaves to the program that its process becomes: its name, its listening sockets,
 * and the connections that clients keep. What arrives in between waits in the kernel, so that nothing is refused.
 */
export interface HandedOver {
  /** Of the daemon. */
  readonly node: string | null;
  readonly sockets: readonly HandedSocket[];
}

interface HandedSocket {
  readonly name: string;
  /** The address of the settings: where they name another one now, the socket is not used. */
  readonly at: ListenAddress;
  readonly kept: KeptSockets;
}

const VARIABLE = 'GATEHOUSE_HANDED_OVER';
const F_SETFD = 2;
const F_DUPFD_CLOEXEC = 1030;
const FD_CLOEXEC = 1;
/** Behind the standard streams. */
const FIRST_FD = 3;

/** What this process was left, once; to be called before it starts another one, which must not inherit it. */
export function takeHandedOver(): HandedOver {
  const env = processEnvironment() as Record<string, string | undefined>;
  const text = env[VARIABLE];
  // Assigning undefined would leave the text "undefined".
  Reflect.deleteProperty(env, VARIABLE);
  if (text === undefined) return { node: null, sockets: [] };
  return flagged(JSON.parse(text) as HandedOver, FD_CLOEXEC);
}

/** The sockets that listen at an address already. */
export function socketsFor({ sockets }: HandedOver, name: string, at: ListenAddress): KeptSockets | undefined {
  return sockets.find((each) => each.name === name && each.at.host === at.host && each.at.port === at.port)?.kept;
}

/** Closes what nothing listens on any more. */
export function closeUnused({ sockets }: HandedOver, used: readonly KeptSockets[]): void {
  for (const { kept } of sockets)
    if (!used.includes(kept)) for (const fd of [kept.listening, ...kept.idle]) closeSync(fd);
}

/** A descriptor of the same socket, which stays open when the first is closed; null where there can be none. */
export function copyDescriptor(fd: number): number | null {
  const copy = controlDescriptor(fd, F_DUPFD_CLOEXEC, FIRST_FD);
  return copy < 0 ? null : copy;
}

/** Becomes the program on disk, in this process, with the same arguments and environment. Does not return. */
export function becomeProgram(handed: HandedOver): never {
  const { executable, main } = runningProgram();
  const environment = { ...processEnvironment(), [VARIABLE]: JSON.stringify(flagged(handed, 0)) };
  const args = [executable, ...process.execArgv, main, ...process.argv.slice(2)];
  flushCompileCache();
  // Both are there on every system that has the table of calls. The new program needs the capabilities of this one.
  passingCapabilities(() => process.execve?.(executable, args, environment));
  throw new Error('this system cannot replace the program of a process');
}

/** Sets flags of all descriptors; what is no descriptor is left out. */
function flagged({ node, sockets }: HandedOver, flags: number): HandedOver {
  const kept = sockets.map((each) => {
    const idle = each.kept.idle.filter((fd) => setFlags(fd, flags));
    return { ...each, kept: { ...each.kept, idle } };
  });
  return { node, sockets: kept.filter(({ kept: { listening } }) => setFlags(listening, flags)) };
}

function setFlags(fd: number, flags: number): boolean {
  return controlDescriptor(fd, F_SETFD, flags) === 0;
}

/** fcntl(2); negative for an error. Without it new sockets are opened, and connections are refused until then. */
function controlDescriptor(fd: number, command: number, argument: number): number {
  try {
    const system = openSystemCalls();
    return system.call(system.numbers.made.fcntl, fd, command, argument);
  } catch {
    return -1;
  }
}
