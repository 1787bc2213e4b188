import { RUNNING } from '../engine/literals.ts';
import type { DaemonRow } from '../schema/schema.ts';
import type { Store } from '../store.ts';
import { listOthers } from './daemons.ts';

/** A job that is recorded as running, but whose daemon is not alive. */
interface LostRun {
  readonly id: string;
  /** The name of the daemon; null for one of an early build. */
  readonly node: string | null;
}

export interface Liveness {
  /** Daemons that are alive. */
  readonly alive: number;
  /** Their names; an early build has none. */
  readonly nodes: ReadonlySet<string>;
  /** Names of those that ended without stopping in order, and that nothing has marked since. */
  readonly gone: ReadonlySet<string>;
  /** The oldest first, at most LOST_MAX. */
  readonly lost: readonly LostRun[];
}

/** More say nothing more to a reader. */
const LOST_MAX = 1_000;

export type IsAlive = (daemon: Pick<DaemonRow, 'id' | 'lease_until'>) => boolean;

/**
 * Tells which of the daemons that have not stopped in order live. `isLocked` says whether a process holds the lock of a
 * daemon, where daemons have locks.
 */
export async function aliveNow(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  isLocked: (daemonId: string) => boolean,
): Promise<IsAlive> {
  if (dialect.liveness === 'lock') return ({ id }) => isLocked(id);
  const now = await dialect.leaseClock(db);
  return ({ lease_until: until }) => until === null || until > now;
}

/** Which daemons live, and which jobs count as running without one. `isLocked` as for `aliveNow`. */
export async function readLiveness(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  isLocked: (daemonId: string) => boolean,
): Promise<Liveness> {
  const unstopped = await listOthers(db, '');
  const isAlive = await aliveNow({ db, dialect }, isLocked);
  const alive = unstopped.filter(isAlive);
  let runs = db
    .selectFrom('jobs')
    .leftJoin('daemons', 'daemons.id', 'jobs.daemon_id')
    .select(['jobs.id', 'daemons.node'])
    .where('jobs.state', '=', RUNNING);
  if (alive.length > 0) {
    const ids = alive.map(({ id }) => id);
    runs = runs.where('jobs.daemon_id', 'not in', ids);
  }
  const nodes = namesOf(alive);
  const gone = namesOf(unstopped).difference(nodes);
  return { alive: alive.length, nodes, gone, lost: await runs.orderBy('jobs.id').limit(LOST_MAX).execute() };
}

function namesOf(daemons: readonly Pick<DaemonRow, 'node'>[]): Set<string> {
  return new Set(daemons.map(({ node }) => node).filter((node) => node !== null));
}
