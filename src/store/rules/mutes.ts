import { found, hasChanged, insertRow, rowBy } from '../engine/rows.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, MuteRow } from '../schema/schema.ts';

export async function insertMute(tx: Tx, row: MuteRow): Promise<void> {
  await insertRow(tx.db, 'mutes', row);
}

interface MuteFilter {
  /** Only those that hold something at this time, in milliseconds by the store's clock; null for all. */
  readonly activeAt: number | null;
  /** Only those that were made before the one of this id. */
  readonly before?: string | undefined;
}

/** Newest first. */
export function listMutes(db: Db, { activeAt, before }: MuteFilter, limit: number): Promise<MuteRow[]> {
  let query = db.selectFrom('mutes').selectAll().orderBy('id', 'desc').limit(limit);
  if (activeAt !== null) query = query.where('ended_at', 'is', null).where('expires_at', '>', activeAt);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.execute();
}

/**
 * Those that hold something at `now`, in milliseconds by the store's clock, in any order: what an announcement is
 * matched with.
 */
export function activeMutes(db: Db, now: number): Promise<MuteRow[]> {
  return db.selectFrom('mutes').selectAll().where('ended_at', 'is', null).where('expires_at', '>', now).execute();
}

export const findMute = rowBy('mutes', 'id');

/** Throws not_found. */
export async function deleteMute(tx: Tx, id: string): Promise<MuteRow> {
  const row = await tx.db.deleteFrom('mutes').where('id', '=', id).returningAll().executeTakeFirst();
  return found(row, 'mute', id);
}

/** Expired mutes whose end is not recorded yet, the oldest end first. */
export async function expiredMutes(db: Db, now: number, limit: number): Promise<MuteRow[]> {
  return (await overMutes(db, { now, limit })).rows;
}

const overMutes = prepared<{ now: number; limit: number }, MuteRow>((db, value) =>
  db
    .selectFrom('mutes')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('expires_at', '<=', value('now'))
    .orderBy('expires_at')
    .limit(value('limit')),
);

/** When the next end comes that is not recorded yet, in milliseconds by the store's clock; null without one. */
export async function nextMuteEnd(db: Db): Promise<number | null> {
  return (await nextMute(db, {})).rows[0]?.expires_at ?? null;
}

const nextMute = prepared<object, Pick<MuteRow, 'expires_at'>>((db) =>
  db.selectFrom('mutes').select('expires_at').where('ended_at', 'is', null).orderBy('expires_at').limit(1),
);

/** Notes the end; false when somebody else did, or removed the mute. */
export function endMute(tx: Tx, id: string): Promise<boolean> {
  const update = tx.db.updateTable('mutes').set({ ended_at: tx.now }).where('id', '=', id);
  return hasChanged(update.where('ended_at', 'is', null));
}
