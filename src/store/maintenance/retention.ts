import { sql } from 'kysely';
import { NOTIFICATION_KINDS } from '../../domain/notifications.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import type { Db, RuleFireRow } from '../schema/schema.ts';
import { holdRetention } from './retention-turn.ts';

/** Rows that may be deleted. A row that is found here stays deletable, so that a later write can delete it. */

/** The event of its end exists: the job has ended, and no further event follows. */
const END_RECORDED = sql<boolean>`jobs.outcome_event_id is not null`;

/**
 * The ids of at most `limit` finished notifications from before `before`. A notification is kept while its approval is
 * pending or its outcome is not announced, and while the end of its job has no event.
 */
export async function oldNotifications(db: Db, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('pages')
    .leftJoin('approvals', 'approvals.id', 'pages.approval_id')
    .leftJoin('jobs', 'jobs.id', 'pages.job_id')
    .select('pages.id')
    // All of them: so the index of kinds and times serves the query.
    .where('pages.kind', 'in', NOTIFICATION_KINDS)
    .where('pages.created_at', '<', before)
    .where('pages.state', 'in', ['done', 'held'])
    .where((eb) => eb.or([eb('pages.kind', '!=', 'approval'), eb('pages.followed', '=', 1)]))
    .where((eb) => eb.or([eb('approvals.id', 'is', null), eb('approvals.state', '!=', 'pending')]))
    .where((eb) => eb.or([eb('jobs.id', 'is', null), END_RECORDED]))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Removes these notifications and their deliveries, at most `limit` rows of deliveries; returns whether all are
 * removed. A notification is removed after its last delivery, so that after a crash the next pass finds it again. The
 * caller has the turn.
 */
export async function deleteNotifications(tx: Tx, ids: readonly string[], limit: number): Promise<boolean> {
  const some = tx.db.selectFrom('deliveries').select(['page_id', 'target']).where('page_id', 'in', ids).limit(limit);
  const removed = await tx.db
    .deleteFrom('deliveries')
    .where((eb) => eb(eb.refTuple('page_id', 'target'), 'in', some.$asTuple('page_id', 'target')))
    .executeTakeFirst();
  if (Number(removed.numDeletedRows) >= limit) return false;
  await tx.db.deleteFrom('pages').where('id', 'in', ids).execute();
  return true;
}

export type FireId = Pick<RuleFireRow, 'rule' | 'fingerprint' | 'status'>;

/** Before the first one. */
export const FIRST_FIRE: FireId = { rule: '', fingerprint: '', status: '' };

/** A batch of the fires of rules, which are read in the order of their key because no index has their time. */
interface OldFires {
  /** Those among them that no rule needs any more. */
  readonly old: readonly FireId[];
  /** Where the next batch begins; null at the end. */
  readonly next: FireId | null;
}

/** Looks at `limit` rows after `from`: what is from before `before` and whose job has ended, or which made none. */
export async function oldFires(db: Db, before: number, from: FireId, limit: number): Promise<OldFires> {
  const rows = await db
    .selectFrom('rule_fires')
    .leftJoin('jobs', 'jobs.id', 'rule_fires.job_id')
    .select([
      'rule_fires.rule as rule',
      'rule_fires.fingerprint as fingerprint',
      'rule_fires.status as status',
      'rule_fires.fired_at as fired_at',
    ])
    .select((eb) => eb.or([eb('jobs.id', 'is', null), END_RECORDED]).as('over'))
    .where((eb) =>
      eb(eb.refTuple('rule', 'fingerprint', 'status'), '>', eb.tuple(from.rule, from.fingerprint, from.status)),
    )
    .orderBy('rule')
    .orderBy('fingerprint')
    .orderBy('status')
    .limit(limit)
    .execute();
  const last = rows.at(-1);
  return {
    old: rows.filter((row) => row.over && row.fired_at < before),
    next: rows.length < limit || last === undefined ? null : last,
  };
}

const removeFire = prepared<FireId & { before: number }, unknown>((db, value) =>
  db
    .deleteFrom('rule_fires')
    .where('rule', '=', value('rule'))
    .where('fingerprint', '=', value('fingerprint'))
    .where('status', '=', value('status'))
    .where('fired_at', '<', value('before')),
);

/** Removes those of them that did not act again in the mean time. */
export async function deleteFires(tx: Tx, fires: readonly FireId[], before: number): Promise<void> {
  await holdRetention(tx);
  for (const { rule, fingerprint, status } of fires) tx.later(removeFire(tx.db, { rule, fingerprint, status, before }));
}
