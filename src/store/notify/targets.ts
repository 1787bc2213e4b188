import { deliveryTargetOf, type NotifyTarget, numberedTarget, recipientOf } from '../../domain/notify/target.ts';
import type { Tx } from '../engine/tx.ts';
import { retagged } from '../engine/tags/tags.ts';

type At = Pick<Tx, 'db' | 'dialect'>;

/** The targets of one running daemon. */
export interface DaemonTargets {
  readonly daemonId: string;
  readonly host: string;
  readonly targets: readonly NotifyTarget[];
}

/** As a daemon's row keeps them. */
export function targetsJson(targets: readonly NotifyTarget[]): string {
  return JSON.stringify(targets.map(({ name, key }) => ({ name, key })));
}

/** Replaces the targets of a running daemon. */
export async function retarget(tx: Tx, daemonId: string, targets: readonly NotifyTarget[]): Promise<void> {
  await tx.db
    .updateTable('daemons')
    .set({ notify_targets: targetsJson(targets) })
    .where('id', '=', daemonId)
    .execute();
  await adoptNumbered(tx, daemonId, targets);
}

/** By daemon id, of the daemons that run; those of builds that did not record their targets are left out. */
export async function listLiveTargets({ db, dialect }: At): Promise<DaemonTargets[]> {
  let query = db
    .selectFrom('daemons')
    .select(['id', 'host', 'notify_targets'])
    .where('stopped_at', 'is', null)
    .where('notify_targets', 'is not', null)
    .orderBy('id');
  if (dialect.liveness === 'lease') {
    const now = await dialect.leaseClock(db);
    query = query.where((where) => where.or([where('lease_until', 'is', null), where('lease_until', '>', now)]));
  }
  const rows = await query.execute();
  return rows.map(({ id, host, notify_targets: text }) => ({
    daemonId: id,
    host,
    targets: JSON.parse(text ?? '[]') as NotifyTarget[],
  }));
}

/** Whether a running daemon has the target of this key. */
export async function isTargetLive(at: At, key: string): Promise<boolean> {
  return (await listLiveTargets(at)).some(({ targets }) => targets.some((each) => each.key === key));
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
