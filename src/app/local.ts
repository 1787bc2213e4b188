import { existsSync } from 'node:fs';
import type { Settings } from '../config/settings/settings.ts';
import type { DoctorParts } from '../doctor/entry.ts';
import { localCaller } from '../domain/access/caller.ts';
import { Failure } from '../domain/failure.ts';
import type { LocalRuntime, StorelessLocal } from '../faces/cli/terminal.ts';
import { systemClock } from '../lib/clock.ts';
import { userName } from '../lib/user-name.ts';
import type { Services } from '../operations/core/services.ts';
import { VERSION } from '../version.ts';
import { createServices, openBase, pathsOf } from './base.ts';
import { doctorOf, moduleOf } from './services/on-demand.ts';

/**
 * Opens the local command line's runtime: the same operations, on the data directory itself. Throws the reason as it
 * is: the operator is at the machine, and there is no daemon's log to look into. Without `mayMake` a data directory
 * that does not exist is refused.
 */
export async function openLocal(settings: Settings, mayMake = true): Promise<LocalRuntime> {
  const { dataDir, databaseUrl } = settings;
  if (!mayMake && databaseUrl === null && !existsSync(dataDir))
    throw new Failure(
      'not_found',
      `There is no data directory ${dataDir}: svc serve makes it, --data-dir names another.`,
    );
  const base = await openBase(settings);
  const services: Services = createServices(base, {
    hasQueue: true,
    startedAt: null,
    // The daemon sees the commit itself.
    wake: () => undefined,
    ingressUrl: async () => (await moduleOf('ingressUrl')).ingressUrlOf(base),
    sandbox: () => sandboxOf(settings),
    listeners: () => [],
    async reload() {
      const { reloadDaemon } = await moduleOf('reload');
      return reloadDaemon({ store: base.store, services });
    },
  });
  return { runtime: { store: base.store, services }, caller: localCaller(userName()), close: () => base.close() };
}

/** What still works after `openLocal` threw `reason`: the doctor, which reports it. */
export function withoutStore(settings: Settings, reason: unknown): StorelessLocal {
  const doctor = doctorOf(settings, {
    clock: systemClock,
    paths: pathsOf(settings),
    openedStore: () => {
      throw reason;
    },
    sandbox: () => sandboxOf(settings),
    listeners: () => [],
  });
  const server = { version: VERSION, hostname: null, startedAt: null, timeZone: 'UTC' };
  return { runtime: { services: { server, doctor }, reason }, caller: localCaller(userName()) };
}

async function sandboxOf(settings: Settings): ReturnType<DoctorParts['sandbox']> {
  return (await moduleOf('sandbox')).sandboxSupport(settings);
}
