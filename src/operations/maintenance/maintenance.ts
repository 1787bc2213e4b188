import { Failure } from '../../domain/failure.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { isCordoned, setCordon } from '../../store/maintenance/cordon.ts';
import { countRunning } from '../../store/jobs/jobs.ts';
import type { Db } from '../../store/schema/schema.ts';
import { readOperation, writeOperation } from '../core/operation.ts';
import { reply, type Reply, written } from '../core/reply.ts';
import type { Services } from '../core/services.ts';

const base = { answers: ['maintenance.readiness'], failures: ['unavailable'] } as const;

async function readiness(db: Db): Promise<Reply> {
  const cordoned = await isCordoned(db);
  const inFlight = await countRunning(db);
  return reply('maintenance.readiness', { cordoned, in_flight: inFlight, safe_to_reboot: cordoned && inFlight === 0 });
}

function requireQueue(services: Services): void {
  if (!services.hasQueue)
    throw new Failure('unavailable', 'This process runs no job queue; send the request to the daemon.');
}

const show = readOperation({
  ...base,
  id: 'maintenance.readiness',
  summary: 'Check whether a reboot would interrupt a job',
  scopes: READERS,
  http: { method: 'GET', path: '/maintenance/readiness' },
  cli: { verb: 'maintenance readiness', examples: ['svc maintenance readiness'] },
  mcp: { none: 'A reboot is planned by a person.' },
  async run({ store, services }) {
    requireQueue(services);
    return readiness(store.db);
  },
});

const cordon = writeOperation({
  ...base,
  id: 'maintenance.cordon',
  summary: 'Stop starting jobs and firing rules; running jobs continue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/cordon' },
  cli: { verb: 'maintenance cordon', examples: ['svc maintenance cordon'] },
  mcp: { none: 'A reboot is planned by a person.' },
  async run({ tx, caller, services }) {
    requireQueue(services);
    await setCordon(tx, caller.name);
    tx.afterCommit(() => services.wake());
    return written(await readiness(tx.db), null);
  },
});

const uncordon = writeOperation({
  ...base,
  id: 'maintenance.uncordon',
  summary: 'Allow jobs to start and rules to fire again',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/uncordon' },
  cli: { verb: 'maintenance uncordon', examples: ['svc maintenance uncordon'] },
  mcp: { none: 'A reboot is planned by a person.' },
  async run({ tx, services }) {
    requireQueue(services);
    await setCordon(tx, null);
    tx.afterCommit(() => services.wake());
    return written(await readiness(tx.db), null);
  },
});

export const MAINTENANCE_OPERATIONS = [show, cordon, uncordon];
