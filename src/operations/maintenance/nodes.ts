import { READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { isCordoned } from '../../store/maintenance/cordon.ts';
import { listNodes, listRunning, type NodeRow } from '../../store/maintenance/nodes.ts';
import { readOperation, type Context } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

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
    const seen = await Promise.all(nodes.map((node) => seenAt(context, node)));
    return reply(
      'node.list',
      nodes.map(({ node, version, started_at: startedAt, isCordoned: alone }, i) => ({
        name: node,
        version,
        started_at: rfc3339(startedAt),
        last_seen_at: timeOrNull(seen[i] ?? null),
        cordoned: all || alone,
        running_jobs: running.filter((job) => job.node === node).length,
      })),
    );
  },
});

/** When a daemon was last seen: now while it lives. */
async function seenAt({ store, services }: Context, row: NodeRow): Promise<number | null> {
  if (row.stopped_at !== null) return row.stopped_at;
  if (row.lease_until === null) return services.lockSeenAt(row.id);
  return Math.min(row.lease_until, await store.dialect.clock(store.db, services.clock.now()));
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}

export const NODE_OPERATIONS = [list];
