/**
 * Which world there is, and which daemon's code runs. Globals that would bring in real time or chance ask here: outside
 * of a daemon they are what they always are.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import type { Running } from './host.ts';
import type { World } from './world.ts';

const scope = new AsyncLocalStorage<Running>();
let world: World | null = null;

const REAL = {
  setImmediate: globalThis.setImmediate,
  setInterval: globalThis.setInterval,
  now: Date.now,
  random: Math.random,
  anySignal: AbortSignal.any.bind(AbortSignal),
  pid: process.pid,
  /** A clock of the processor, for limits of the simulation itself. */
  hrtime: process.hrtime,
};

/** Throws where none is open. */
export function theWorld(): World {
  if (world === null) throw new Error('there is no world');
  return world;
}

export function openWorld(next: World | null): void {
  world = next;
}

/** The daemon whose code runs; null where it is that of the world or of a test. */
export function running(): Running | null {
  return scope.getStore() ?? null;
}

export function runAs<T>(who: Running | null, work: () => T): T {
  return who === null ? scope.exit(work) : scope.run(who, work);
}

/**
 * Does it when the process of the daemon whose code runs is gone, as the kernel would; the result does it at once.
 * Outside of a daemon only the result does it.
 */
export function atDeath(end: () => void): () => void {
  const handles = running()?.host.handles;
  const handle = {
    close(): void {
      handles?.delete(handle);
      end();
    },
  };
  handles?.add(handle);
  return () => handle.close();
}

/** Ends a promise when everything that follows without waiting is done. */
export function drained(): Promise<void> {
  return new Promise((resolve) => void REAL.setImmediate(resolve));
}

function isInDaemon(): boolean {
  return world !== null && scope.getStore() !== undefined;
}

function refuse(what: string): never {
  throw new Error(`${what} is not simulated: a daemon of the world would use the real one`);
}

/**
 * Node keeps such a signal for as long as it has listeners, whether or not its sources are kept: that of a dead daemon
 * would keep the daemon and its world.
 */
function anySignal(signals: AbortSignal[]): AbortSignal {
  const any = REAL.anySignal(signals);
  if (!isInDaemon()) return any;
  atDeath(() => {
    for (const listener of getEventListeners(any, 'abort')) any.removeEventListener('abort', listener as () => void);
  });
  return any;
}

/** For the life of the process. */
export function replaceGlobals(): void {
  globalThis.setImmediate = ((fire: (...args: unknown[]) => void, ...args: unknown[]) => {
    if (!isInDaemon()) return REAL.setImmediate(fire, ...args);
    theWorld().add('turn', 0, () => fire(...args));
    return {};
  }) as typeof setImmediate;
  // It only keeps a process alive, which has the world for that.
  globalThis.setInterval = ((fire: () => void, ms: number) =>
    isInDaemon() ? {} : REAL.setInterval(fire, ms)) as typeof setInterval;
  AbortSignal.any = anySignal;
  Date.now = () => (isInDaemon() ? refuse('Date.now') : REAL.now());
  Math.random = () => (isInDaemon() ? refuse('Math.random') : REAL.random());
  Object.defineProperty(process, 'pid', { get: () => scope.getStore()?.host.pid ?? REAL.pid });
}
