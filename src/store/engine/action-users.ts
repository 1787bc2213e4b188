import { fromJson, type Json } from '../../lib/json.ts';
import type { Db } from '../schema/schema.ts';

/** What actions of all kinds have, and the names of what some of them run on. */
interface AnyAction {
  readonly kind: string;
  readonly inventory?: unknown;
  readonly source?: unknown;
}

/** The first rule or schedule whose action has this value in a field, in words; undefined without one. */
export async function findActionUser(db: Db, field: 'inventory' | 'source', name: string): Promise<string | undefined> {
  for (const [table, noun] of [
    ['rules', 'rule'],
    ['schedules', 'schedule'],
  ] as const) {
    const rows: readonly { readonly name: string; readonly action: Json<AnyAction> }[] = await db
      .selectFrom(table)
      .select(['name', 'action'])
      .orderBy('name')
      .execute();
    const user = rows.find(({ action }) => fromJson(action)[field] === name);
    if (user !== undefined) return `${noun} ${user.name}`;
  }
  return undefined;
}
