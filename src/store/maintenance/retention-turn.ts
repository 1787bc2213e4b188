import { countedUp } from '../engine/counts.ts';
import { hasChanged } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, Schema } from '../schema/schema.ts';

type RetentionRow = Schema['retention'];
type Retained = RetentionRow['name'];

/** How long a daemon that deletes may be silent before another one continues, in milliseconds. */
const TURN_MS = 120_000;
/** The migration that brought retention. */
const RETENTION_SCHEMA = 27;
/** After an upgrade nothing is deleted for this time, in milliseconds: 7 days, in which somebody may object. */
export const GRACE_MS = 7 * 86_400_000;

/** Two daemons that delete the same rows in different orders would each wait for the other. */
export function holdRetention(tx: Tx): Promise<void> {
  return tx.dialect.lockKey(tx.db, 'retention');
}

/** Takes or keeps the turn to delete; false while another daemon has it. Holds retention until the write ends. */
export async function takeTurn(tx: Tx, name: Retained, daemonId: string): Promise<boolean> {
  await holdRetention(tx);
  const now = await tx.dialect.clock(tx.db, tx.now);
  const row = { daemon_id: daemonId, turn_until: now + TURN_MS };
  const inserted = await tx.db
    .insertInto('retention')
    .values({ name, ...row, shortened_at: null, deleted: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 1n) return true;
  const mine = tx.db.updateTable('retention').set(row).where('name', '=', name);
  return hasChanged(
    mine.where((eb) =>
      // A time further ahead than any turn is of a clock that was set back since.
      eb.or([eb('daemon_id', '=', daemonId), eb('turn_until', '<=', now), eb('turn_until', '>', now + TURN_MS)]),
    ),
  );
}

/** Notes how many rows were deleted. */
export async function noteShortened(tx: Tx, name: Retained, rows: number): Promise<void> {
  await tx.db
    .updateTable('retention')
    .set({ shortened_at: tx.now, deleted: countedUp('deleted', rows) })
    .where('name', '=', name)
    .execute();
}

export function listShortened(db: Db): Promise<RetentionRow[]> {
  return db.selectFrom('retention').selectAll().orderBy('name').execute();
}

/**
 * Until when nothing is deleted after the upgrade that brought retention, in milliseconds since the epoch. A new store
 * has nothing that old before. An upgrade far in the future was one by a clock that has been set back since.
 */
export async function graceUntil(db: Db, now: number): Promise<number> {
  const row = await db
    .selectFrom('schema_migrations')
    .select('applied_at')
    .where('number', '=', RETENTION_SCHEMA)
    .executeTakeFirst();
  const appliedAt = row?.applied_at ?? 0;
  return appliedAt > now + GRACE_MS ? 0 : appliedAt + GRACE_MS;
}
