import type { Db } from '../schema/schema.ts';

/** The first rule or schedule whose action has this value in a field, in words; undefined without one. */
export async function findActionUser(db: Db, field: 'inventory' | 'source', name: string): Promise<string | undefined> {
  for (const [table, noun] of [
    ['rules', 'rule'],
    ['schedules', 'schedule'],
  ] as const) {
    const rows = await db.selectFrom(table).select(['name', 'action']).orderBy('name').execute();
    const user = rows.find(({ action }) => (JSON.parse(action) as Readonly<Record<string, unknown>>)[field] === name);
    if (user !== undefined) return `${noun} ${user.name}`;
  }
  return undefined;
}
