import { sql } from 'kysely';
import type { Db } from '../../schema/schema.ts';

/** `TRIGGER on TABLE` of each trigger and rewrite rule of the schema. */
export async function postgresTriggers(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select tgname || ' on ' || relname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
      where not tgisinternal and relnamespace = current_schema()::regnamespace
    union all
    select rulename || ' on ' || tablename from pg_rules where schemaname = current_schema()`.execute(db);
  return rows.map(({ name }) => name);
}
