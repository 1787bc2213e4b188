import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { isCordoned, isNodeCordoned, setCordon, setNodeCordon } from '../../store/maintenance/cordon.ts';
import { hadDaemon, requireNode as requireKnown } from '../../store/maintenance/nodes.ts';
import { uncordonRestarts } from '../../store/maintenance/restarts.ts';
import { listSchedules } from '../../store/schedules/schedules.ts';
import type { Db } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { readOperation, writeOperation, type Context, type WriteContext } from '../core/operation.ts';
import { reply, written, type Reply, type Written } from '../core/reply.ts';
import type { Services } from '../core/services.ts';
import { runningJobs } from './running-jobs.ts';

const base = {
  answers: ['maintenance.readiness'],
  failures: ['not_found', 'unavailable'],
  mcp: { none: 'A reboot is planned by a person.' },
  input: z.strictObject({ node: field.name.optional().describe('Only this daemon; default the whole service') }),
} as const;

async function readiness(db: Db, node: string | undefined): Promise<Reply> {
  const cordoned = node === undefined ? await isCordoned(db) : await isNodeCordoned(db, node);
  const running = await runningJobs(db, node ?? null);
  return reply('maintenance.readiness', {
    cordoned,
    in_flight: running.length,
    safe_to_reboot: cordoned && running.length === 0,
    running,
  });
}

/** Throws `unavailable` in a process without a job queue, and `not_found` for a node that never was. */
export async function requireNode(services: Services, db: Db, node: string | undefined): Promise<void> {
  if (!services.hasQueue)
    throw new Failure('unavailable', 'This process runs no job queue; send the request to the daemon.');
  await requireKnown(db, node);
}

/**
 * Throws `unavailable` on the machine for a store that no daemon has ever used: the account of the caller has another
 * data directory than the service, and the answer would call a reboot safe.
 */
async function requireService({ caller }: Pick<Context, 'caller'>, db: Db): Promise<void> {
  if (caller.credential === 'local' && !(await hadDaemon(db)))
    throw new Failure(
      'unavailable',
      'No daemon has ever run on this data directory; name that of the service (--data-dir), or use --remote URL.',
    );
}

const show = readOperation({
  ...base,
  id: 'maintenance.readiness',
  summary: 'Check whether a reboot would interrupt a job',
  scopes: READERS,
  http: { method: 'GET', path: '/maintenance/readiness' },
  cli: {
    verb: 'maintenance readiness',
    wait: 'safe',
    examples: ['svc maintenance readiness', 'svc maintenance readiness --node web1 --wait --timeout 30m'],
  },
  async run(context, { node }) {
    const { store, services } = context;
    await requireNode(services, store.db, node);
    await requireService(context, store.db);
    return readiness(store.db, node);
  },
});

const cordon = writeOperation({
  ...base,
  id: 'maintenance.cordon',
  causes: { none: 'It holds jobs back and ends none.' },
  summary: 'Stop starting jobs and firing rules; running jobs continue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/cordon', query: ['node'] },
  cli: { verb: 'maintenance cordon', examples: ['svc maintenance cordon', 'svc maintenance cordon --node web1'] },
  run: (context, { node }) => change(context, node, context.caller.name),
});

const uncordon = writeOperation({
  ...base,
  id: 'maintenance.uncordon',
  causes: { none: 'It holds jobs back and ends none.' },
  summary: 'Allow jobs to start and rules to fire again',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/uncordon', query: ['node'] },
  cli: { verb: 'maintenance uncordon', examples: ['svc maintenance uncordon', 'svc maintenance uncordon --node web1'] },
  run: (context, { node }) => change(context, node, null),
});

const reload = writeOperation({
  id: 'maintenance.reload',
  causes: { none: 'It reads the settings that somebody wrote at the machine.' },
  summary: 'Read the settings file and the notification targets again, and plan schedules again',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/reload' },
  cli: { verb: 'maintenance reload', examples: ['svc maintenance reload'] },
  mcp: { none: 'Settings are changed on the machine by a person.' },
  answers: ['maintenance.reload'],
  failures: ['invalid_argument', 'unavailable'],
  async prepare({ services }) {
    if (services.reload === undefined)
      throw new Failure('unavailable', 'This process is not the daemon; send the request to the daemon.');
    return services.reload();
  },
  async run({ tx }, _input, fresh) {
    const schedules = (await listSchedules(tx.db)).filter(({ enabled }) => enabled === 1).length;
    await fresh.write(tx);
    const { transports, restartNeeded } = fresh;
    const done = { schedules, transports, restart_needed: [...restartNeeded] };
    return written(reply('maintenance.reload', done), null, { restart_needed: restartNeeded });
  },
});

/** `by` sets the cordon, null lifts it. */
async function change(
  { tx, services, caller }: WriteContext,
  node: string | undefined,
  by: string | null,
): Promise<Written> {
  await requireNode(services, tx.db, node);
  await requireService({ caller }, tx.db);
  await (node === undefined ? setCordon(tx, by) : setNodeCordon(tx, node, by));
  // A restart that waits for jobs would stop them from starting again.
  if (by === null) await uncordonRestarts(tx, node ?? null, caller.name);
  tx.afterCommit(() => services.wake());
  return written(await readiness(tx.db, node), node ?? null);
}

export const MAINTENANCE_OPERATIONS = [show, cordon, uncordon, reload];
