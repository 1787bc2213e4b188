import { type RawBuilder, sql } from 'kysely';

/**
 * Jobs without a tag wait until the last daemon of an earlier build, which may still take them, has gone: then they get
 * one. What has none after that is claimed, and refused with a reason.
 */
export const isOrdered = sql`(order_tag is not null
  or exists (select 1 from ledger_keying where orders_adopted_at is not null))`;

/**
 * The ids of the oldest jobs that a daemon may claim: two searches of one index, as one with `or` would go through the
 * jobs of all other nodes. `ready` makes the search, in brackets, for a condition on the node.
 */
export function eitherReady(
  ready: (node: RawBuilder<unknown>) => RawBuilder<unknown>,
  daemonId: string,
  limit: number,
): RawBuilder<{ id: string }> {
  const own = sql`node = (select node from daemons where daemons.id = ${daemonId})`;
  return sql<{ id: string }>`select id from (select id from ${ready(sql`node is null`)} as of_any
    union all select id from ${ready(own)} as of_one) as ready_jobs order by id limit ${limit}`;
}
