import { Failure } from '../../domain/failure.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { countedUp } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import { countOf, found, insertRow, rowBy } from '../engine/rows.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { type Checked, ifTagged, passesTag, retagged, tagged, tagOf, type TagReader } from '../engine/tags/tags.ts';
import type { Db, SessionRow, TokenRow } from '../schema/schema.ts';

/** Before its tag is made. */
export type NewToken = Untagged<TokenRow>;

/** A row that lets somebody in. */
export type Token = Checked<TokenRow>;

const tokenById = rowBy('tokens', 'id');

/** Not checked: `ifTagged` decides whether it may let somebody in. */
export function findToken(db: Db, id: string): Promise<TokenRow | undefined> {
  return tokenById(db, id);
}

/** As `findToken`: those of these ids, in any order. */
export function findTokens(db: Db, ids: readonly string[]): Promise<TokenRow[]> {
  return db.selectFrom('tokens').selectAll().where('id', 'in', ids).execute();
}

/** The owners of all tokens that ever had the name. */
export async function ownersOfTokens(db: Db, name: string): Promise<string[]> {
  const rows = await db.selectFrom('tokens').select('owner').distinct().where('name', '=', name).execute();
  return rows.map(({ owner }) => owner);
}

/** Throws duplicate while an active token has the name. */
export async function insertToken(tx: Tx, row: NewToken): Promise<void> {
  if (!(await insertRow(tx.db, 'tokens', { ...row, ...tagOf(tx.ring, 'tokens', row) }, 'skip')))
    throw new Failure('duplicate', `name: an active token with the name ${row.name} already exists.`);
}

export function listTokens(db: Db): Promise<TokenRow[]> {
  return db.selectFrom('tokens').selectAll().orderBy('name').orderBy('id').execute();
}

/** The number of tokens that are valid at `now`. */
export function countActiveTokens(db: Db, now: number): Promise<number> {
  return countOf(activeTokens(db, now));
}

function activeTokens(db: Db, now: number) {
  return db
    .selectFrom('tokens')
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
}

function activeTokensOf(db: Db, owner: string, scopes: readonly Scope[], now: number) {
  return activeTokens(db, now)
    .selectAll()
    .where('owner', '=', owner)
    .where('scope', 'in', scopes)
    .where('agent', 'is', null)
    .orderBy('id');
}

/** Whether a person outside of `owners` has a token of one of the scopes that is valid at `now`. */
export async function hasTokenOfOthers(
  at: TagReader,
  owners: readonly string[],
  scopes: readonly Scope[],
  now: number,
): Promise<boolean> {
  const people = activeTokens(at.db, now).selectAll().where('scope', 'in', scopes).where('agent', 'is', null);
  const rows = await people.execute();
  for (const row of rows) if (!owners.includes(row.owner) && (await passesTag(at, 'tokens', row))) return true;
  return false;
}

/** Whether an owner has a token of one of the scopes that is valid at `now`. */
export async function hasActiveToken(
  at: TagReader,
  owner: string,
  scopes: readonly Scope[],
  now: number,
): Promise<boolean> {
  return (await tagged(at, 'tokens', await activeTokensOf(at.db, owner, scopes, now).execute())).length > 0;
}

/** As `hasActiveToken`; the tokens that were found cannot be revoked before the transaction ends. */
export async function holdActiveToken(tx: Tx, owner: string, scopes: readonly Scope[], now: number): Promise<boolean> {
  // All of them: if only one was read and it is revoked at this moment, the result would be false.
  const rows = await tx.dialect.holdRows(activeTokensOf(tx.db, owner, scopes, now)).execute();
  return (await tagged(tx, 'tokens', rows)).length > 0;
}

/** Revokes by id, else by the name of the active token, and ends its sessions. Throws not_found. */
export async function revokeToken(tx: Tx, idOrName: string): Promise<TokenRow> {
  // One after the other: a token may be named like the id of another one.
  const revoked = (await revokeWhere(tx, 'id', idOrName)) ?? (await revokeWhere(tx, 'name', idOrName));
  const row = found(revoked, 'active token', idOrName);
  await tx.db.deleteFrom('sessions').where('token_id', '=', row.id).execute();
  return row;
}

async function revokeWhere(tx: Tx, column: 'id' | 'name', value: string): Promise<TokenRow | undefined> {
  const active = tx.db.selectFrom('tokens').selectAll().where('revoked_at', 'is', null).where(column, '=', value);
  const [row] = await tx.dialect.holdRows(active).execute();
  if (row === undefined) return undefined;
  const revoked = retagged(tx.ring, 'tokens', row, { revoked_at: tx.now });
  return tx.db
    .updateTable('tokens')
    .set({ ...revoked, version: countedUp('version') })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirst();
}

export async function insertSession(tx: Tx, row: Untagged<SessionRow>): Promise<void> {
  // Also where no daemon runs: the table holds only sessions in use.
  await deleteExpiredSessions(tx, tx.now);
  await tx.db
    .insertInto('sessions')
    .values({ ...row, ...tagOf(tx.ring, 'sessions', row) })
    .execute();
}

/** Whether there is one that has expired at `now`. */
export async function hasExpiredSessions(db: Db, now: number): Promise<boolean> {
  const expired = db.selectFrom('sessions').select('id').where('expires_at', '<=', now).limit(1);
  return (await expired.execute()).length > 0;
}

/** Those that have expired at `now`: they must not be valid again when the clock is set back. */
export async function deleteExpiredSessions(tx: Tx, now: number): Promise<void> {
  await tx.db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
}

const sessionById = rowBy('sessions', 'id');

/** Undefined too for one that somebody wrote into the database. */
export async function findSession(at: TagReader, id: string): Promise<Checked<SessionRow> | undefined> {
  return ifTagged(at, 'sessions', await sessionById(at.db, id));
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('sessions').where('id', '=', id).execute();
}
