import type { Settings } from '../config/settings.ts';
import { localCaller, type Caller } from '../domain/access/caller.ts';
import { systemClock } from '../lib/clock.ts';
import { userName } from '../lib/user-name.ts';
import type { Runtime } from '../operations/core/invoke.ts';
import type { Services } from '../operations/core/services.ts';
import type { Store } from '../store/store.ts';
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

/**
 * Opens it. Where that fails (no permission, a store of a newer build), every operation that needs the store throws
 * the reason, and the doctor, which reports it, still works.
 */
export async function openLocal(settings: Settings): Promise<Local> {
  const caller = localCaller(userName());
  try {
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
    return { runtime: { store: base.store, services }, caller, close: () => base.close() };
  } catch (error) {
    // As it is: the operator is at the machine, and there is no daemon's log to look into.
    return { runtime: brokenRuntime(settings, error), caller, close: () => Promise.resolve() };
  }
}

function brokenRuntime(settings: Settings, reason: unknown): Runtime {
  const refuse = (): never => {
    throw reason;
  };
  const services: Services = {
    clock: systemClock,
    server: { version: VERSION, hostname: null, startedAt: null },
    hasQueue: true,
    wake: () => undefined,
    announceJob: () => undefined,
    jobChanged: refuse,
    hashToken: refuse,
    keyring: refuse,
    seal: { keyring: refuse, find: refuse, rotate: refuse },
    sources: { fetch: refuse, treeOf: refuse, remove: refuse, hooksFile: refuse, hookNames: refuse },
    reaction: new Proxy({} as Services['reaction'], { get: refuse }),
    approvalTtlMs: settings.approvalTtlMs,
    linkOrigin: refuse,
    doctor: doctorOf(settings, {
      clock: systemClock,
      paths: pathsOf(settings),
      openedStore: refuse,
      sandbox: sandboxSupport,
      listeners: () => [],
    }),
  };
  const store = new Proxy({} as Store, { get: refuse });
  return { store, services };
}
