import { Failure } from '../../domain/failure.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { Db, SealRow } from '../schema/schema.ts';
import type { TagContext } from './tags/tags.ts';
import type { Tx } from './tx.ts';

/** The key that the daemons of this store seal with; undefined before the first. */
export function findUsed(db: Db): Promise<SealRow | undefined> {
  return db.selectFrom('seal').selectAll().executeTakeFirst();
}

/**
 * As `assertSameKey` of store/secrets/seal, inside a write that appends to the ledger: rows under a key that the other
 * daemons do not have could not be verified. `ring` may be from before a rotation that another process, or this write,
 * has noted since; then the file is read again. Returns the keyring that has the key.
 */
export async function holdSameKey(tx: Pick<Tx, 'db' | 'now'>, ring: Keyring, tags: TagContext): Promise<Keyring> {
  const used = (await findUsed(tx.db)) ?? (await claimUsed(tx, ring));
  if (ring.has(used.key_id)) return ring;
  const renewed = await tags.ringWith(used.key_id);
  if (!renewed.has(used.key_id)) throw otherKey(used, renewed);
  return renewed;
}

/** The key in use. In a new store, the active key of the ring becomes it. */
export async function claimUsed(tx: Pick<Tx, 'db' | 'now'>, { activeId }: Keyring): Promise<SealRow> {
  const row: SealRow = { id: 1, key_id: activeId, created_at: tx.now, exported_at: null, exported_key_id: null };
  await tx.db
    .insertInto('seal')
    .values(row)
    .onConflict((oc) => oc.column('id').doNothing())
    .execute();
  return tx.db.selectFrom('seal').selectAll().executeTakeFirstOrThrow();
}

export function otherKey(used: SealRow, ring: Keyring): Failure {
  return new Failure(
    'invalid_argument',
    `--seal-key-file: this store is sealed with another key (${used.key_id}, and this file seals with ` +
      `${ring.activeId}): ` +
      'copy the key file from where it was made, or put it back. Where nothing is sealed and no token is ' +
      'active, svc seal init takes this one.',
  );
}
