import type { Settings } from '../config/settings.ts';
import { localCaller, type Caller } from '../domain/access/caller.ts';
import { systemClock } from '../lib/clock.ts';
import { userName } from '../lib/user-name.ts';
import type { Runtime, StorelessRuntime } from '../operations/core/invoke.ts';
import { VERSION } from '../version.ts';
import { createServices, doctorOf, openBase, pathsOf } from './base.ts';
import { ingressUrlOf } from './ingress-url.ts';
import { sandboxSupport } from './sandbox-support.ts';

/** The local command line's runtime: the same operations, on the data directory itself. */
export interface Local {
  readonly runtime: Runtime;
  readonly caller: Caller;
  close(): Promise<void>;
}

export interface Storeless {
  readonly runtime: StorelessRuntime;
  readonly caller: Caller;
}

/** Opens it. Throws the reason as it is: the operator is at the machine, and there is no daemon's log to look into. */
export async function openLocal(settings: Settings): Promise<Local> {
  const base = await openBase(settings);
  const services = createServices(base, {
    hasQueue: true,
    startedAt: null,
    // The daemon sees the commit itself.
    wake: () => undefined,
    ingressUrl: () => ingressUrlOf(base),
    sandbox: sandboxSupport,
    listeners: () => [],
  });
  return { runtime: { store: base.store, services }, caller: localCaller(userName()), close: () => base.close() };
}

/** What still works after `openLocal` threw `reason`: the doctor, which reports it. */
export function withoutStore(settings: Settings, reason: unknown): Storeless {
  const doctor = doctorOf(settings, {
    clock: systemClock,
    paths: pathsOf(settings),
    openedStore: () => {
      throw reason;
    },
    sandbox: sandboxSupport,
    listeners: () => [],
  });
  const server = { version: VERSION, hostname: null, startedAt: null };
  return { runtime: { services: { server, doctor }, reason }, caller: localCaller(userName()) };
}
