import { Failure } from '../../domain/failure.ts';
import { RUNNING } from '../engine/literals.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, DaemonRow, JobRow } from '../schema/schema.ts';

/** A daemon by the name that people know, from the newest row of that name. */
export interface NodeRow extends Pick<
  DaemonRow,
  'id' | 'version' | 'started_at' | 'lease_until' | 'renewed_at' | 'stopped_at'
> {
  readonly node: string;
  /** Cordoned alone, not with the whole service. */
  readonly isCordoned: boolean;
}

/** Nodes that one list shows: those that started last. */
const NODES_MAX = 1_000;

/** The nodes by name. `since` leaves out those that stopped before it, in milliseconds since the epoch. */
export async function listNodes(db: Db, since: number): Promise<NodeRow[]> {
  const newest = db
    .selectFrom('daemons')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('node', 'is not', null)
    .where((eb) => eb.or([eb('stopped_at', 'is', null), eb('stopped_at', '>=', since)]))
    .groupBy('node');
  const rows = await db
    .selectFrom('daemons')
    .leftJoin('node_cordons', 'node_cordons.node', 'daemons.node')
    .leftJoin('restarts', 'restarts.node', 'daemons.node')
    .select(['daemons.id', 'daemons.version', 'daemons.started_at', 'daemons.lease_until', 'daemons.stopped_at'])
    .select(['daemons.renewed_at', 'daemons.node', 'node_cordons.cordoned_at', 'restarts.cordoned'])
    .where('daemons.id', 'in', newest)
    .orderBy('daemons.id', 'desc')
    .limit(NODES_MAX)
    .execute();
  return rows
    .map(({ node, cordoned_at: cordonedAt, cordoned, ...row }) => ({
      ...row,
      node: node ?? '',
      isCordoned: cordonedAt !== null || cordoned === 1,
    }))
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
}

/** Whether a daemon has ever used this store. */
export async function hadDaemon(db: Db): Promise<boolean> {
  return (await db.selectFrom('daemons').select('id').limit(1).execute()).length > 0;
}

/** Throws not_found for a name that no daemon ever had. */
export async function requireNode(db: Db, node: string | undefined): Promise<void> {
  if (node === undefined) return;
  const known = await db.selectFrom('daemons').select('id').where('node', '=', node).limit(1).execute();
  if (known.length === 0) throw new Failure('not_found', `node: there is no daemon "${node}".`);
}

/** The daemons of that name that have not stopped in order: alive or dead, the caller finds out. */
export function unstoppedOf(db: Db, node: string): Promise<DaemonRow[]> {
  return db.selectFrom('daemons').selectAll().where('node', '=', node).where('stopped_at', 'is', null).execute();
}

/** Two daemons that start at a time do not take the same name. */
export function holdNodeNames(tx: Tx): Promise<void> {
  return tx.dialect.lockKey(tx.db, 'nodes');
}

/**
 * The name of the daemon that runs or ran a job, or that has to run it; null for one that any may run and that has not
 * begun, and for a daemon of an old build.
 */
export async function nodeOf(
  db: Db,
  { daemon_id: id, node }: Pick<JobRow, 'daemon_id' | 'node'>,
): Promise<string | null> {
  if (id === null) return node;
  return (await db.selectFrom('daemons').select('node').where('id', '=', id).executeTakeFirst())?.node ?? null;
}

interface RunningJob extends Pick<JobRow, 'id' | 'kind' | 'started_at'> {
  readonly node: string | null;
}

/** Running jobs, oldest first; those of one node, or of all. */
export async function listRunning(db: Db, node: string | null): Promise<RunningJob[]> {
  let query = db
    .selectFrom('jobs')
    .leftJoin('daemons', 'daemons.id', 'jobs.daemon_id')
    .select(['jobs.id', 'jobs.kind', 'jobs.started_at', 'daemons.node'])
    .where('jobs.state', '=', RUNNING);
  if (node !== null) query = query.where('daemons.node', '=', node);
  return query.orderBy('jobs.id').execute();
}
