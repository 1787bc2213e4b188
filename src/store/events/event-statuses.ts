import type { Db, EventRow } from '../schema/schema.ts';

/** As much of an event as tells whether a thing still fires, and what stopped its rules. */
export type EventStatusRow = Pick<
  EventRow,
  'id' | 'source' | 'name' | 'status' | 'fingerprint' | 'labels' | 'rule' | 'trace' | 'received_at'
>;

/**
 * Newest first, of those before the event of this id; no filter, so that a batch reads no more rows than it returns.
 */
export function eventStatuses(db: Db, before: string | null, limit: number): Promise<EventStatusRow[]> {
  const query = db
    .selectFrom('events')
    .select(['id', 'source', 'name', 'status', 'fingerprint', 'labels', 'rule', 'trace', 'received_at'])
    .orderBy('id', 'desc')
    .limit(limit);
  return (before === null ? query : query.where('id', '<', before)).execute();
}
