import { RUNNING } from '../engine/literals.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { tagged, tagOf, type TagReader } from '../engine/tags/tags.ts';
import type { DaemonRow, Db, JobRow } from '../schema/schema.ts';

/** A daemon at its start. One without a listener has no ingress URL, and one that sends nothing has no targets. */
type NewDaemon = Omit<
  Untagged<DaemonRow>,
  'ingress_url' | 'notify_targets' | 'ledger_key_id' | 'node' | 'renewed_at' | 'tags_orders'
> &
  Partial<Pick<DaemonRow, 'ingress_url' | 'notify_targets' | 'node' | 'renewed_at'>>;

export async function insertDaemon(tx: Tx, row: NewDaemon): Promise<void> {
  const whole = { ingress_url: null, notify_targets: null, renewed_at: null, ...row };
  await tx.db
    .insertInto('daemons')
    .values({ ...whole, ...tagOf(tx.ring, 'daemons', whole), ledger_key_id: tx.ring.activeId, tags_orders: 1 })
    .execute();
}

/** Ends a daemon in the records: it stopped in order, or its lock was found free and it was last seen at `seenAt`. */
export async function markStopped(tx: Tx, id: string, seenAt: number = tx.now): Promise<void> {
  await tx.db
    .updateTable('daemons')
    .set({ stopped_at: Math.min(seenAt, tx.now) })
    .where('id', '=', id)
    .where('stopped_at', 'is', null)
    .execute();
}

/** Daemons that have not stopped, other than `self`: alive or dead, the caller finds out. */
export async function listOthers(db: Db, self: string): Promise<DaemonRow[]> {
  return (await others(db, { self })).rows;
}

const others = prepared<{ self: string }, DaemonRow>((db, value) =>
  db.selectFrom('daemons').selectAll().where('id', '!=', value('self')).where('stopped_at', 'is', null).orderBy('id'),
);

/** Daemons other than `self`, stopped ones too: at most `limit`, those that started last. */
export function listRecent(db: Db, self: string, limit: number): Promise<DaemonRow[]> {
  return db.selectFrom('daemons').selectAll().where('id', '!=', self).orderBy('id', 'desc').limit(limit).execute();
}

/** The ingress listener of a daemon, and its process. */
export type Ingress = Pick<DaemonRow, 'id' | 'pid' | 'started_at'> & { readonly url: string };

/**
 * Daemons that have an ingress listener and did not stop, the newest first. Where daemons have leases, only those that
 * run on the given boot of the given machine, because several machines share the database, and of one process only the
 * newest: it was restarted in place, or took another name. The caller finds out whether one is alive: by its process,
 * or where daemons have locks by its lock, because a machine may have been renamed. None that somebody wrote into the
 * database: what is sent to the address decides, or has a password.
 */
export async function listIngresses(
  at: TagReader & Pick<Tx, 'dialect'>,
  machine: Pick<DaemonRow, 'host' | 'boot_id'>,
): Promise<Ingress[]> {
  const { db, dialect } = at;
  const query = db.selectFrom('daemons').selectAll().orderBy('started_at', 'desc').orderBy('id', 'desc');
  if (dialect.liveness === 'lock') {
    const open = query.where('stopped_at', 'is', null).where('ingress_url', 'is not', null);
    return (await tagged(at, 'daemons', await open.execute())).flatMap(ingressOf);
  }
  const here = query.where('host', '=', machine.host).where('boot_id', '=', machine.boot_id);
  const now = await dialect.leaseClock(db);
  const rows = await tagged(at, 'daemons', await here.execute());
  return rows
    .filter((row) => rows.find(({ pid }) => pid === row.pid) === row)
    .filter(({ stopped_at: end, lease_until: lease }) => end === null && (lease === null || lease > now))
    .flatMap(ingressOf);
}

function ingressOf({ id, pid, started_at, ingress_url: url }: DaemonRow): Ingress[] {
  return url === null ? [] : [{ id, pid, started_at, url }];
}

/** A running job whose daemon has stopped, where that daemon ran, and when it was last seen. */
export type Orphan = JobRow &
  Pick<DaemonRow, 'host' | 'boot_id' | 'stopped_at'> & {
    /** Not `node`, which is the daemon that has to run the job. */
    readonly daemon_node: string | null;
  };

export async function listOrphans(db: Db): Promise<Orphan[]> {
  return (await orphans(db, {})).rows;
}

const orphans = prepared<object, Orphan>((db) =>
  db
    .selectFrom('jobs')
    .innerJoin('daemons', 'daemons.id', 'jobs.daemon_id')
    .selectAll('jobs')
    .select(['daemons.host', 'daemons.boot_id', 'daemons.node as daemon_node', 'daemons.stopped_at'])
    .where('jobs.state', '=', RUNNING)
    .where('daemons.stopped_at', 'is not', null)
    .orderBy('jobs.id'),
);

/** The machine on which a daemon ran; null for one that is not known. */
export async function hostOfDaemon(db: Db, id: string | null): Promise<string | null> {
  const row = await db.selectFrom('daemons').select('host').where('id', '=', id).executeTakeFirst();
  return row?.host ?? null;
}
