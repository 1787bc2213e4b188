import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { compileNetgroups, type Netgroup, type NetgroupIndex } from '../../domain/netgroups/netgroup.ts';
import {
  NETGROUP_LIMITS,
  prefixesToStore,
  type PrefixList,
  storedPrefixes,
} from '../../domain/netgroups/prefix-list.ts';
import type { Clock } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { sumOf } from '../engine/counts.ts';
import { FollowedData, type FollowedStore } from '../engine/followed-data.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, NetgroupRow } from '../schema/schema.ts';

/** By name. */
export function listNetgroups(db: Db): Promise<NetgroupRow[]> {
  return db.selectFrom('netgroups').selectAll().orderBy('name').execute();
}

export function netgroupOf({ name, prefixes, excludes }: NetgroupRow): Netgroup {
  return { name, prefixes: storedPrefixes(prefixes), excludes: storedPrefixes(excludes) };
}

/** Throws duplicate where the name is taken, and conflict where all groups would have too many prefixes. */
export async function insertNetgroup(tx: Tx, name: string, list: PrefixList): Promise<NetgroupRow> {
  const row = { id: newId('net', tx.now), name, ...columnsOf(list), created_at: tx.now, updated_at: tx.now };
  if (!(await insertRow(tx.db, 'netgroups', row, 'skip')))
    throw new Failure('duplicate', `name: a netgroup with the name ${name} already exists.`);
  await requireRoom(tx);
  tx.announce();
  return row;
}

/** Replaces its prefixes; its id stays. Throws not_found, and conflict as above. */
export async function replaceNetgroup(tx: Tx, name: string, list: PrefixList): Promise<NetgroupRow> {
  const row = await tx.db
    .updateTable('netgroups')
    // Each change has another time, also within a millisecond and after the clock was set back: the mark relies on it.
    .set({
      ...columnsOf(list),
      updated_at: sql<number>`case when updated_at < ${tx.now} then ${tx.now} else updated_at + 1 end`,
    })
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
  await requireRoom(tx);
  tx.announce();
  return found(row, 'netgroup', name);
}

/** Throws not_found. */
export async function deleteNetgroup(tx: Tx, name: string): Promise<NetgroupRow> {
  const row = await tx.db.deleteFrom('netgroups').where('name', '=', name).returningAll().executeTakeFirst();
  await forgetManaged(tx, 'netgroup', name);
  tx.announce();
  return found(row, 'netgroup', name);
}

function columnsOf({ prefixes, excludes }: PrefixList) {
  return { prefixes: prefixesToStore(prefixes), excludes: prefixesToStore(excludes) };
}

/** Checks the bounds of all groups after a write, which is undone where they are passed. */
async function requireRoom(tx: Tx): Promise<void> {
  // Without it, daemons that add at the same time would each count without the rows of the others.
  await tx.dialect.lockKey(tx.db, 'netgroups');
  const rows = await tx.db.selectFrom('netgroups').select(['prefixes', 'excludes']).execute();
  const lists = rows.flatMap(({ prefixes, excludes }) => [storedPrefixes(prefixes), storedPrefixes(excludes)]);
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  const { groups, prefixesInAll } = NETGROUP_LIMITS;
  if (rows.length > groups)
    throw new Failure('conflict', `There are ${groups} netgroups, the most that are possible; remove one first.`);
  if (count > prefixesInAll)
    throw new Failure(
      'conflict',
      `prefixes: all netgroups would have ${count} prefixes and exclusions; expected at most ${prefixesInAll}.`,
    );
}

const marks = prepared<object, { mark: string | null }>((db) =>
  db
    .selectFrom('netgroups')
    .select(sql<string | null>`cast(count(*) as text) || '/' || max(id) || '/' || ${sumOf('updated_at')}`.as('mark')),
);

/** What classifies addresses by the groups of a store. */
export type CurrentNetgroups = Pick<FollowedData<NetgroupIndex>, 'current' | 'forget'>;

export function currentNetgroups(store: FollowedStore, clock: Pick<Clock, 'monotonic'>): CurrentNetgroups {
  return new FollowedData(store, clock, {
    tables: ['netgroups'],
    mark: async (db) => (await marks(db, {})).rows[0]?.mark ?? '',
    read: async (db) => compileNetgroups((await listNetgroups(db)).map(netgroupOf)),
  });
}
