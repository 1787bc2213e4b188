import type { MessageRefusal } from '../../domain/events/message-refusal.ts';
import { sumOf, totalWithNew } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

/**
 * How many messages of webhooks were refused, by the hour: as many rows as webhooks have reasons, however many messages
 * come.
 */

const HOUR_MS = 3_600_000;
/** The doctor looks back for a day; the hour that it began in counts as a whole. */
const KEPT_MS = 25 * HOUR_MS;

export interface NewRefusal {
  readonly webhook: string;
  readonly reason: MessageRefusal;
  readonly count: number;
}

/** Counts them now, and forgets what is older than a day. */
export async function addRefusals(tx: Tx, refusals: readonly NewRefusal[]): Promise<void> {
  const now = await tx.dialect.clock(tx.db, tx.now);
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  await tx.db
    .deleteFrom('webhook_refusals')
    .where('hour', '<', now - KEPT_MS)
    .execute();
  // In one order, so that two daemons never wait for each other in a circle.
  for (const row of refusals.toSorted((a, b) => (a.webhook + a.reason < b.webhook + b.reason ? -1 : 1))) {
    await tx.db
      .insertInto('webhook_refusals')
      .values({ ...row, hour })
      .onConflict((conflict) =>
        conflict
          .columns(['webhook', 'hour', 'reason'])
          .doUpdateSet({ count: totalWithNew('webhook_refusals', 'count') }),
      )
      .execute();
  }
}

/**
 * Of the last day, by webhook and reason; the webhook with the most messages first. `now` in milliseconds by the
 * store's clock.
 */
export async function listRefusals(db: Db, now: number): Promise<NewRefusal[]> {
  const rows = await db
    .selectFrom('webhook_refusals')
    .select(['webhook', 'reason', sumOf('count').as('count')])
    .where('hour', '>=', now - KEPT_MS)
    // An hour in the future is of a clock that was set back since.
    .where('hour', '<=', now)
    .groupBy(['webhook', 'reason'])
    .execute();
  return rows
    .map(({ webhook, reason, count }) => ({ webhook, reason, count: Number(count) }))
    .toSorted((a, b) => b.count - a.count || (a.webhook + a.reason < b.webhook + b.reason ? -1 : 1));
}
