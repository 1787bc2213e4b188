import { deliveryTargetOf, type NotifyTarget, numberedTarget, recipientOf } from '../../domain/notify/target.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import type { Tx } from '../engine/tx.ts';
import { retagged, tagged, type TagReader } from '../engine/tags/tags.ts';
import type { DaemonRow } from '../schema/schema.ts';

type At = Pick<Tx, 'db' | 'dialect'>;

/** The targets of one running daemon. */
export interface DaemonTargets {
  readonly daemonId: string;
  readonly host: string;
  readonly targets: readonly NotifyTarget[];
}

/** As a daemon's row keeps them. */
export function targetsJson(targets: readonly NotifyTarget[]): NonNullable<DaemonRow['notify_targets']> {
  return toJson(targets.map(({ name, key }) => ({ name, key })));
}

/** Replaces the targets of a running daemon. */
export async function retarget(tx: Tx, daemonId: string, targets: readonly NotifyTarget[]): Promise<void> {
  const row = await tx.dialect
    .holdRows(tx.db.selectFrom('daemons').selectAll().where('id', '=', daemonId))
    .executeTakeFirst();
  if (row !== undefined) {
    const changes = retagged(tx.ring, 'daemons', row, { notify_targets: targetsJson(targets) });
    await tx.db.updateTable('daemons').set(changes).where('id', '=', daemonId).execute();
  }
  await adoptNumbered(tx, daemonId, targets);
}

/**
 * By daemon id, of the daemons that run; those of builds that did not record their targets are left out, and so is one
 * that somebody wrote into the database: what is assigned to it would be sent by no one.
 */
export async function listLiveTargets(at: At & TagReader): Promise<DaemonTargets[]> {
  const rows = await tagged(at, 'daemons', await liveRows(at));
  return rows.map((row) => ({ daemonId: row.id, host: row.host, targets: targetsOf(row) }));
}

/** Whether a running daemon has the target of this key. A daemon that somebody wrote into the database has none. */
export async function isTargetLive(at: At & TagReader, key: string): Promise<boolean> {
  const rows = await tagged(at, 'daemons', await liveRows(at));
  return rows.some((row) => targetsOf(row).some((each) => each.key === key));
}

/** None where they cannot be read: rows of earlier builds, which have no tag, may be anything. */
function targetsOf({ notify_targets: text }: DaemonRow): readonly NotifyTarget[] {
  try {
    const targets: unknown = text === null ? [] : fromJson(text);
    return Array.isArray(targets) ? targets.filter(isTarget) : [];
  } catch {
    return [];
  }
}

function isTarget(value: unknown): value is NotifyTarget {
  const { name, key } = (value ?? {}) as Partial<NotifyTarget>;
  return typeof name === 'string' && typeof key === 'string';
}

async function liveRows({ db, dialect }: At): Promise<DaemonRow[]> {
  let query = db
    .selectFrom('daemons')
    .selectAll()
    .where('stopped_at', 'is', null)
    .where('notify_targets', 'is not', null)
    .orderBy('id');
  if (dialect.liveness === 'lease') {
    const now = await dialect.leaseClock(db);
    query = query.where((where) => where.or([where('lease_until', 'is', null), where('lease_until', '>', now)]));
  }
  return query.execute();
}

/**
 * Gives links and waiting deliveries of builds that numbered their targets to the targets of this daemon, by their
 * order. Deliveries of a running daemon stay with it. Decisions that were made keep the number.
 */
export async function adoptNumbered(tx: Tx, daemonId: string, targets: readonly NotifyTarget[]): Promise<void> {
  for (const [index, target] of targets.entries()) {
    const old = numberedTarget(index + 1);
    const id = deliveryTargetOf(target);
    const links = tx.db.selectFrom('decision_links').selectAll().where('recipient', '=', old);
    const changes = { recipient: recipientOf(target), target: target.key };
    for (const link of await links.execute())
      await tx.db
        .updateTable('decision_links')
        .set(retagged(tx.ring, 'decision_links', link, changes))
        .where('hash', '=', link.hash)
        .execute();
    await tx.db
      .updateTable('deliveries')
      .set({ target: id, daemon_id: daemonId })
      .where('state', '=', 'waiting')
      .where('target', '=', old)
      .where('daemon_id', 'not in', (eb) =>
        eb.selectFrom('daemons').select('daemons.id').where('stopped_at', 'is', null),
      )
      .where('page_id', 'not in', (eb) =>
        eb.selectFrom('deliveries as own').select('own.page_id').where('own.target', '=', id),
      )
      .execute();
  }
}
