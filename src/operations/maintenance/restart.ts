import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { startProblem } from '../../domain/new-program.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import { isNodeCordoned } from '../../store/maintenance/cordon.ts';
import { listRestartable, OPEN_RESTARTS, requestRestart, type Restartable } from '../../store/maintenance/restarts.ts';
import type { Db } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { readOperation, writeOperation, type Context } from '../core/operation.ts';
import { reply, written, type Reply } from '../core/reply.ts';
import type { Services } from '../core/services.ts';
import { isAliveOf } from './liveness.ts';
import { requireNode } from './maintenance.ts';
import { runningJobs } from './running-jobs.ts';

const node = field.name.optional().describe('The daemon; default the one that answers, or the only one');

const base = { answers: ['maintenance.restart'], mcp: { none: 'A restart is planned by a person.' } } as const;

const show = readOperation({
  ...base,
  id: 'maintenance.restart-status',
  summary: 'Show the state of the last restart in place',
  scopes: READERS,
  http: { method: 'GET', path: '/maintenance/restart' },
  cli: { verb: 'maintenance restart-status', examples: ['svc maintenance restart-status'] },
  input: z.strictObject({ node }),
  failures: ['not_found', 'conflict', 'unavailable'],
  run: async (context, input) => status(context, context.store.db, await daemonOf(context, input.node)),
});

const restart = writeOperation({
  ...base,
  id: 'maintenance.restart',
  causes: { of: 'node' },
  summary: 'Replace a daemon by the new program on disk, in the same process, when its jobs have ended',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/maintenance/restart', query: ['force', 'node'] },
  cli: {
    verb: 'maintenance restart',
    wait: 'restarted',
    examples: ['svc maintenance restart --wait', 'svc maintenance restart --node web1 --force'],
  },
  input: z.strictObject({ force: field.flag.describe('Cancel the jobs that still run'), node }),
  failures: ['not_found', 'conflict', 'unavailable'],
  async prepare(context, input) {
    const daemon = await daemonOf(context, input.node);
    // A second restart changes nothing, except that it may force the first.
    if (!OPEN_RESTARTS.includes(daemon.state)) await requireNewProgram(context, daemon);
    return daemon;
  },
  async run({ tx, services }, { force }, daemon) {
    const changed = await requestRestart(tx, daemon.node, force);
    tx.afterCommit(() => services.wake());
    const [fresh = daemon] = await listRestartable(tx.db, daemon.node);
    return written(await status({ services }, tx.db, fresh), daemon.node, { force, changed });
  },
});

/** The daemon that a request means. Throws `conflict` where several run and none is named. */
async function daemonOf({ services, store }: Context, named: string | undefined): Promise<Restartable> {
  await requireNode(services, store.db, named);
  const rows = await listRestartable(store.db, named ?? services.node());
  const [first] = rows;
  if (first === undefined)
    throw new Failure('unavailable', named === undefined ? 'No daemon runs.' : `The daemon "${named}" does not run.`);
  if (rows.length > 1) throw new Failure('conflict', `node: ${rows.length} daemons run; name one of svc node list.`);
  return first;
}

/** Throws `conflict` where a restart would change nothing or must not be, and `unavailable` where that is unknown. */
async function requireNewProgram(context: Context, daemon: Restartable): Promise<void> {
  const { services } = context;
  if (services.node() !== daemon.node && !(await isAliveOf(context))(daemon))
    throw new Failure('unavailable', `The daemon "${daemon.node}" does not run; start it.`);
  const { here, digest } = services.programs;
  // The files of another machine are looked at by its daemon, whose answer is the state of the restart.
  if (daemon.host !== here.host || daemon.boot_id !== here.bootId) return;
  const onDisk = await digest(fromJson(daemon.program));
  if (daemon.digest === null)
    throw new Failure('unavailable', 'The daemon has just started and does not know its program yet; try again soon.');
  if (daemon.digest === onDisk)
    throw new Failure('conflict', 'The program on disk is the one that runs; install the new one first.');
}

async function status({ services }: { readonly services: Services }, db: Db, row: Restartable): Promise<Reply> {
  const running = await runningJobs(db, row.node);
  const { state, reason } = shown(row, services);
  return reply('maintenance.restart', {
    state,
    cordoned: await isNodeCordoned(db, row.node),
    in_flight: running.length,
    requested_at: timeOrNull(row.requested_at),
    drain_deadline: row.state === 'executing' ? null : timeOrNull(row.drain_deadline),
    reason,
    node: row.node,
    forced: row.forced === 1,
    finished_at: row.state === 'executing' ? null : timeOrNull(row.finished_at),
    running,
  });
}

/** Until the new program has started, the old one has not ended; where its process is gone, it does not start. */
function shown(row: Restartable, { clock, programs }: Services) {
  const { state, reason } = row;
  if (state !== 'executing') return { state, reason };
  const problem = startProblem(row, programs.here, clock.now());
  return { state: problem?.hasEnded === true ? 'aborted' : 'draining', reason: problem?.words ?? null } as const;
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}

export const RESTART_OPERATIONS = [show, restart];
