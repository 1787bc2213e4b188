import { sql } from 'kysely';
import { factsInWords, onBroken } from '../../lib/invariants/invariants.ts';
import type { Db, LedgerRow } from '../schema/schema.ts';
import type { Store } from '../store.ts';

/** A literal, so that the partial index serves the query. */
const OPERATION = 'invariant.broken';
const isBroken = sql<boolean>`operation = ${sql.lit(OPERATION)}`;

/** Records the first break of each invariant of this process in the ledger, for the doctor. The result ends that. */
export function recordBroken(store: Pick<Store, 'write'>): () => void {
  return onBroken(({ invariant, facts }) => {
    const entry = { principal: 'gatehouse', owner: 'gatehouse', via: 'daemon' } as const;
    const detail = { facts: factsInWords(facts) };
    const write = store.write(async (tx) => tx.record({ ...entry, operation: OPERATION, target: invariant, detail }));
    // The log has it in any case.
    write.catch(() => undefined);
  });
}

/** Newest first, at most `limit`, from `since` in milliseconds since the epoch. */
export function listBroken(db: Db, since: number, limit: number): Promise<Pick<LedgerRow, 'at' | 'target'>[]> {
  return db
    .selectFrom('ledger')
    .select(['at', 'target'])
    .where(isBroken)
    .where('at', '>=', since)
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
}
