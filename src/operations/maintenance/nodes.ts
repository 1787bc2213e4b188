import { READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { mayStart } from '../../domain/new-program.ts';
import { isCordoned } from '../../store/maintenance/cordon.ts';
import { listNodes, listRunning, type NodeRow } from '../../store/maintenance/nodes.ts';
import { listExecuting } from '../../store/maintenance/restarts.ts';
import { readOperation, type Context } from '../core/operation.ts';
import { reply } from '../core/reply.ts';
import { isAliveOf } from './liveness.ts';

/** A daemon that has stopped is listed for this long. */
const STOPPED_LISTED_MS = 7 * 24 * 3_600_000;

const list = readOperation({
  id: 'node.list',
  summary: 'List the daemons of the service',
  scopes: READERS,
  http: { method: 'GET', path: '/nodes' },
  cli: { verb: 'node list', examples: ['svc node list'] },
  mcp: { none: 'Where jobs run is the business of operators.' },
  answers: ['node.list'],
  async run(context) {
    const { db } = context.store;
    const [nodes, running, all] = await Promise.all([
      listNodes(db, context.services.clock.now() - STOPPED_LISTED_MS),
      listRunning(db, null),
      isCordoned(db),
    ]);
    const isHere = await presence(context);
    return reply(
      'node.list',
      nodes.map((row) => {
        const cordoned = all || row.isCordoned;
        return {
          name: row.node,
          version: row.version,
          started_at: rfc3339(row.started_at),
          last_seen_at: timeOrNull(seenAt(context, row)),
          cordoned,
          running_jobs: running.filter((job) => job.node === row.node).length,
          state: isHere(row) ? (cordoned ? ('cordoned' as const) : ('running' as const)) : ('gone' as const),
        };
      }),
    );
  },
});

/** Tells which daemons live, or end to start again in their process. */
async function presence(context: Context): Promise<(row: NodeRow) => boolean> {
  const { programs, clock } = context.services;
  const [isAlive, executing] = await Promise.all([isAliveOf(context), listExecuting(context.store.db)]);
  const starting = executing.filter((each) => mayStart(each, programs.here, clock.now()));
  return (row) => (row.stopped_at === null && isAlive(row)) || starting.some(({ node }) => node === row.node);
}

/** When a daemon was last seen, as stored: each face answers the same. Null while it holds its lock, and if unknown. */
function seenAt({ services }: Context, row: NodeRow): number | null {
  if (row.stopped_at !== null) return row.stopped_at;
  if (row.lease_until !== null) return row.renewed_at;
  const now = services.clock.now();
  const at = services.lockSeenAt(row.id);
  return at !== null && at >= now ? null : at;
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}

export const NODE_OPERATIONS = [list];
