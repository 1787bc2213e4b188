import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { newId } from '../../lib/id.ts';
import { sumOf } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import { found, hasChanged, insertRow, rowBy } from '../engine/rows.ts';
import type { Db, SilenceRow } from '../schema/schema.ts';

interface SilenceFilter {
  /** Only those that stop something at this time, in milliseconds by the store's clock; null for all. */
  readonly openAt: number | null;
  /** Only those that were made before the one of this id. */
  readonly before?: string | undefined;
}

/** Newest first. */
export function listSilences(db: Db, { openAt, before }: SilenceFilter, limit: number): Promise<SilenceRow[]> {
  let query = db.selectFrom('silences').selectAll().orderBy('id', 'desc').limit(limit);
  if (openAt !== null) query = query.where('expires_at', '>', openAt).where('ended_at', 'is', null);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.execute();
}

/** Those that may still stop a rule, oldest first; some of them may be over. Never one that was cut with its rule. */
export function openSilences(db: Db): Promise<SilenceRow[]> {
  return db
    .selectFrom('silences')
    .selectAll()
    .where('ended_at', 'is', null)
    .whereRef('expires_at', '>', 'created_at')
    .orderBy('id')
    .execute();
}

/**
 * By the name of a rule, the silence that stops it whatever the event is, of those that are open at `now`: the one that
 * lasts longest. One that has an expression too is not among them: what it stops is known with the event.
 */
export async function silencedRules(db: Db, now: number, rule?: string): Promise<ReadonlyMap<string, SilenceRow>> {
  let query = db
    .selectFrom('silences')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .where('when_text', 'is', null);
  query = rule === undefined ? query.where('rule', 'is not', null) : query.where('rule', '=', rule);
  const rows = await query.orderBy('expires_at').orderBy('id').execute();
  return new Map(rows.map((row) => [row.rule ?? '', row]));
}

/**
 * Ends all silences that name a rule and are open at `now`, with an expression or without; answers their ids, oldest
 * first. Their end is set to their start: another rule may get the name at this moment, and a daemon of an earlier
 * build uses its own clock.
 */
export async function cutSilencesOf(tx: Tx, rule: string, now: number): Promise<string[]> {
  const rows = await tx.db
    .updateTable('silences')
    .set((column) => ({ expires_at: column.ref('created_at') }))
    .where('rule', '=', rule)
    .where('expires_at', '>', now)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  if (rows.length > 0) tx.announce();
  return rows.map(({ id }) => id).toSorted();
}

/** Times are by the store's clock. */
export type NewSilence = Omit<SilenceRow, 'id' | 'ended_at'>;

export async function insertSilence(tx: Tx, silence: NewSilence): Promise<SilenceRow> {
  const row: SilenceRow = { id: newId('sil', tx.now), ...silence, ended_at: null };
  await insertRow(tx.db, 'silences', row);
  tx.announce();
  return row;
}

/**
 * Lets a silence end at `now`; `dueSilences` finds it then. Throws not_found for an unknown one, and conflict for one
 * that has ended.
 */
export async function cutSilence(tx: Tx, id: string, now: number): Promise<SilenceRow> {
  const row = await tx.db
    .updateTable('silences')
    .set({ expires_at: now })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) {
    tx.announce();
    return row;
  }
  found(await findSilence(tx.db, id), 'silence', id);
  throw new Failure('conflict', `The silence ${id} has already ended.`);
}

const findSilence = rowBy('silences', 'id');

/** Silences whose time is over and whose end was not noted, oldest first. */
export async function dueSilences(db: Db, now: number, limit: number): Promise<SilenceRow[]> {
  return (await overSilences(db, { now, limit })).rows;
}

const overSilences = prepared<{ now: number; limit: number }, SilenceRow>((db, value) =>
  db
    .selectFrom('silences')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('expires_at', '<=', value('now'))
    .orderBy('expires_at')
    .limit(value('limit')),
);

/** When the next end comes that is not recorded yet, in milliseconds by the store's clock; null without one. */
export async function nextSilenceEnd(db: Db): Promise<number | null> {
  return (await nextSilence(db, {})).rows[0]?.expires_at ?? null;
}

const nextSilence = prepared<object, Pick<SilenceRow, 'expires_at'>>((db) =>
  db.selectFrom('silences').select('expires_at').where('ended_at', 'is', null).orderBy('expires_at').limit(1),
);

/** False when somebody else noted its end. */
export function noteSilenceEnd(tx: Tx, id: string): Promise<boolean> {
  tx.announce();
  const update = tx.db.updateTable('silences').set({ ended_at: tx.now }).where('id', '=', id);
  return hasChanged(update.where('ended_at', 'is', null));
}

const marks = prepared<object, { mark: string | null }>((db) =>
  db
    .selectFrom('silences')
    .select(sql<string | null>`cast(count(*) as text) || '/' || max(id) || '/' || ${sumOf('expires_at')}`.as('mark'))
    .where('ended_at', 'is', null),
);

/** A short text that is another one after each change of an open silence. */
export async function silencesMark(db: Db): Promise<string> {
  return (await marks(db, {})).rows[0]?.mark ?? '';
}
