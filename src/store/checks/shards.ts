import { SHARDS } from '../../domain/checks/sweep/slots.ts';
import type { SweepReport } from '../../domain/checks/sweep/report.ts';
import type { Json } from '../../lib/json.ts';
import { countOf } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { CheckSweeperRow, Db } from '../schema/schema.ts';

/** Which daemon probes which targets, by leases in database time. */

/** What a daemon has after it renewed its leases. */
interface HeldShards {
  readonly held: readonly number[];
  /** Those of them that it must leave to others: it stops probing them, and releases them with the next call. */
  readonly surplus: readonly number[];
}

/**
 * Renews the leases of a daemon and takes its share of what is free: all living daemons have the same number of
 * shards, give or take one. `released` are shards that it has left.
 */
export async function renewShards(
  tx: Tx,
  daemonId: string,
  leaseMs: number,
  released: readonly number[],
): Promise<HeldShards> {
  await tx.dialect.lockKey(tx.db, 'check-shards');
  const now = await tx.dialect.leaseClock(tx.db);
  const leaseUntil = now + leaseMs;
  await tx.db
    .insertInto('check_sweepers')
    .values({ daemon_id: daemonId, lease_until: leaseUntil, reported_at: null, report: null })
    .onConflict((conflict) => conflict.column('daemon_id').doUpdateSet({ lease_until: leaseUntil }))
    .execute();
  await free(tx, daemonId, released);
  const quota = await quotaOf(tx.db, daemonId, now);
  const rows = await allShards(tx);
  const mine = rows.filter((row) => row.daemon_id === daemonId).map(({ shard }) => shard);
  const open = rows.filter((row) => row.daemon_id !== daemonId && (row.daemon_id === null || row.lease_until <= now));
  const taken = open.slice(0, Math.max(0, quota - mine.length)).map(({ shard }) => shard);
  const held = [...mine, ...taken];
  if (held.length > 0)
    await tx.db
      .updateTable('check_shards')
      .set({ daemon_id: daemonId, lease_until: leaseUntil })
      .where('shard', 'in', held)
      .execute();
  return { held, surplus: mine.slice(quota) };
}

/** The share of a daemon among those that live, in the order of their ids. */
async function quotaOf(db: Db, daemonId: string, now: number): Promise<number> {
  const living = await db
    .selectFrom('check_sweepers')
    .select('daemon_id')
    .where('lease_until', '>', now)
    .orderBy('daemon_id')
    .execute();
  const place = living.findIndex((row) => row.daemon_id === daemonId);
  return Math.floor(SHARDS / living.length) + (place < SHARDS % living.length ? 1 : 0);
}

async function allShards({ db }: Tx) {
  const rows = await db.selectFrom('check_shards').selectAll().orderBy('shard').execute();
  if (rows.length === SHARDS) return rows;
  const all = Array.from({ length: SHARDS }, (_, shard) => ({ shard, daemon_id: null, lease_until: 0 }));
  await db
    .insertInto('check_shards')
    .values(all)
    .onConflict((conflict) => conflict.column('shard').doNothing())
    .execute();
  return db.selectFrom('check_shards').selectAll().orderBy('shard').execute();
}

async function free(tx: Tx, daemonId: string, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return;
  await tx.db
    .updateTable('check_shards')
    .set({ daemon_id: null, lease_until: 0 })
    .where('daemon_id', '=', daemonId)
    .where('shard', 'in', shards)
    .execute();
}

/** A daemon leaves all its shards to others. */
export async function leaveShards(tx: Tx, daemonId: string): Promise<void> {
  await tx.dialect.lockKey(tx.db, 'check-shards');
  await tx.db
    .updateTable('check_shards')
    .set({ daemon_id: null, lease_until: 0 })
    .where('daemon_id', '=', daemonId)
    .execute();
  await tx.db.deleteFrom('check_sweepers').where('daemon_id', '=', daemonId).execute();
}

/** Keeps what a daemon says of its sweep, and forgets daemons that have said nothing since `before`. */
export async function reportSweep(tx: Tx, daemonId: string, report: Json<SweepReport>, before: number): Promise<void> {
  const said = { reported_at: tx.now, report };
  await tx.db
    .insertInto('check_sweepers')
    .values({ daemon_id: daemonId, lease_until: null, ...said })
    .onConflict((conflict) => conflict.column('daemon_id').doUpdateSet(said))
    .execute();
  await tx.db
    .deleteFrom('check_sweepers')
    .where('daemon_id', '!=', daemonId)
    .where('reported_at', '<', before)
    .execute();
}

/** What daemons last said of their sweeps, since a time. */
export async function sweepReports(db: Db, since: number): Promise<CheckSweeperRow[]> {
  return db.selectFrom('check_sweepers').selectAll().where('reported_at', '>=', since).execute();
}

/** How many checks are enabled, and their targets. */
export async function countSwept(db: Db): Promise<{ readonly checks: number; readonly targets: number }> {
  const enabled = db.selectFrom('checks').select('name').where('enabled', '=', 1);
  return {
    checks: await countOf(enabled.clearSelect()),
    targets: await countOf(db.selectFrom('check_targets').where('check_name', 'in', enabled)),
  };
}
