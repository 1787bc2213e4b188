import { sql } from 'kysely';
import { LONGEST_EXPIRY_MS, type Opening, OPENING_KINDS } from '../../domain/gate/opening.ts';
import type { TagReader } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { listLiveTargets } from '../notify/targets.ts';
import { countOf } from '../engine/rows.ts';
import type { Db } from '../schema/schema.ts';
import { findGate } from './gate.ts';

type At = TagReader & Pick<Tx, 'dialect'>;

/** What one person alone can do, as counts, in a service that is strict or not. */
export async function listOpenings(at: At, now: number, isStrict: boolean): Promise<Opening[]> {
  const { db } = at;
  const { localhost } = await findGate(at);
  const open = sql<boolean>`coalesce(approve_runs, ${isStrict ? 'all' : 'none'}) <> 'all'`;
  const isLocalhostOpen = (localhost?.runs ?? (isStrict ? 'all' : 'none')) !== 'all';
  const counts: Record<Opening['what'], number> = {
    workspaces: await countWorkspaces(db, isStrict),
    inventories: (await countOf(db.selectFrom('inventories').where(open))) + (isLocalhostOpen ? 1 : 0),
    sources: await countOf(db.selectFrom('sources').where(open)),
    console_sessions: isStrict
      ? 0
      : await countOf(activeTokens(db, now).where('scope', '=', 'operator').where('agent', 'is', null)),
    notify_links: isStrict ? 0 : (await listLiveTargets(at)).flatMap(({ targets }) => targets).length,
    long_tokens: await countOf(
      activeTokens(db, now).where((where) =>
        where.or([where('expires_at', 'is', null), where('expires_at', '>', now + LONGEST_EXPIRY_MS)]),
      ),
    ),
  };
  return OPENING_KINDS.filter((what) => counts[what] > 0).map((what) => ({ what, count: counts[what] }));
}

function countWorkspaces(db: Db, isStrict: boolean): Promise<number> {
  const unprotected = db
    .selectFrom('workspaces')
    .where((where) => where.or([where('require_saved_plan', '=', 0), where('protect_destroy', '=', 0)]));
  return countOf(isStrict ? unprotected.where('unprotected', '=', 1) : unprotected);
}

function activeTokens(db: Db, now: number) {
  return db
    .selectFrom('tokens')
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]));
}

/** When the ledger says that the service was last made strict; null where it was not, or not any more. */
export async function strictByLedger(db: Db): Promise<number | null> {
  const row = await db
    .selectFrom('ledger')
    .select(['at', 'detail'])
    .where(sql<boolean>`operation = 'gate.strict'`)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.detail.includes('"strict":true') === true ? row.at : null;
}
