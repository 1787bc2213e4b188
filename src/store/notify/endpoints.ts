import { Failure } from '../../domain/failure.ts';
import { dropDeliveries } from './deliveries.ts';
import { countedUp } from '../engine/counts.ts';
import { countOf, found, insertRow, rowBy } from '../engine/rows.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { ArmedJobRow, Db, EndpointRow } from '../schema/schema.ts';

/** Endpoints of one token at most: the contract leaves the number open, the decisions say 20. */
export const ENDPOINTS_PER_TOKEN = 20;

export type NewEndpoint = Pick<EndpointRow, 'id' | 'token_id' | 'owner' | 'endpoint' | 'label' | 'p256dh' | 'auth'>;

/**
 * Registers an endpoint. A URL that the token has registered before keeps its row, as browsers subscribe again with the
 * same URL: it gets the new keys, the new label if there is one, and counts as working again. Throws conflict for a
 * token that has the maximum.
 */
export async function insertEndpoint(tx: Tx, row: NewEndpoint): Promise<EndpointRow> {
  // Two concurrent registrations would each find the last place free, or no row of their URL.
  await tx.dialect.lockKey(tx.db, `endpoints:${row.token_id}`);
  const known = await renewEndpoint(tx, row);
  if (known !== undefined) return known;
  if ((await countOf(tx.db.selectFrom('endpoints').where('token_id', '=', row.token_id))) >= ENDPOINTS_PER_TOKEN)
    throw new Failure('conflict', `This token has ${ENDPOINTS_PER_TOKEN} endpoints, the maximum; remove one first.`);
  const made = { ...row, created_at: tx.now, sent_at: null, failed_at: null, failure: null, failures: 0 };
  const whole: EndpointRow = { ...made, ...tagOf(tx.ring, 'endpoints', made) };
  await tx.db.insertInto('endpoints').values(whole).execute();
  return whole;
}

async function renewEndpoint(
  tx: Tx,
  { token_id, owner, endpoint, label, p256dh, auth }: NewEndpoint,
): Promise<EndpointRow | undefined> {
  const same = tx.db
    .selectFrom('endpoints')
    .selectAll()
    .where('token_id', '=', token_id)
    .where('endpoint', '=', endpoint);
  const known = await same.executeTakeFirst();
  if (known === undefined) return undefined;
  const renewed = { owner, p256dh, auth, failure: null, failures: 0, ...(label === null ? {} : { label }) };
  return tx.db
    .updateTable('endpoints')
    .set(retagged(tx.ring, 'endpoints', known, renewed))
    .where('id', '=', known.id)
    .returningAll()
    .executeTakeFirst();
}

/** Those that this token registered, the oldest first. */
export function listEndpoints(db: Db, tokenId: string): Promise<EndpointRow[]> {
  return db.selectFrom('endpoints').selectAll().where('token_id', '=', tokenId).orderBy('id').execute();
}

/** Throws not_found, also for one of another token. Its waiting deliveries are given up. */
export async function deleteEndpoint(tx: Tx, id: string, tokenId: string): Promise<void> {
  const row = await tx.db
    .deleteFrom('endpoints')
    .where('id', '=', id)
    .where('token_id', '=', tokenId)
    .returning('id')
    .executeTakeFirst();
  found(row, 'endpoint', id);
  await dropDeliveries(tx, id);
}

/** Removes an endpoint that its distributor reports as gone; false if it was removed before. */
export async function pruneEndpoint(tx: Tx, id: string): Promise<boolean> {
  const row = await tx.db.deleteFrom('endpoints').where('id', '=', id).returning('id').executeTakeFirst();
  await dropDeliveries(tx, id);
  return row !== undefined;
}

/** Records the result of a send to an endpoint; `failure` is null on success. */
export async function recordAttempt(tx: Tx, id: string, failure: string | null): Promise<void> {
  const update = tx.db.updateTable('endpoints').where('id', '=', id);
  if (failure === null) await update.set({ sent_at: tx.now, failures: 0, failure: null }).execute();
  else await update.set({ failed_at: tx.now, failure, failures: countedUp('failures') }).execute();
}

/** Requests a notification at the end of a job; false, without a write, if it was requested before. */
export function armJob(tx: Tx, row: Pick<ArmedJobRow, 'job_id' | 'armed_by' | 'owner'>): Promise<boolean> {
  return insertRow(tx.db, 'armed_jobs', { ...row, armed_at: tx.now, done_at: null }, 'skip');
}

export const findArmed = rowBy('armed_jobs', 'job_id');

/** Records that its end was announced. */
export async function disarm(tx: Tx, jobId: string): Promise<void> {
  await tx.db.updateTable('armed_jobs').set({ done_at: tx.now }).where('job_id', '=', jobId).execute();
}
