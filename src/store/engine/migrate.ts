import { dialectOf } from './bound.ts';
import type { Engine } from './dialect.ts';
import type { Migration } from './migration.ts';
import type { Db } from '../schema/schema.ts';

/** The schema of the store is newer than this build, or not what its migrations made. */
export class SchemaMismatch extends Error {}

/**
 * What a program may do to a schema. `create`: make the whole schema of a store that has none, and refuse an older
 * schema, because a daemon of the older build may be running on it. `migrate`: also bring an older schema up to date.
 */
export type SchemaAccess = 'create' | 'migrate';

/**
 * Brings the schema up to date: all missing migrations in one transaction with their rows, so that a kill leaves the
 * old schema or the new one. Returns the migrations that this call applied. Throws SchemaMismatch when the
 * store was written by a newer build, or by an older one where `access` does not allow the change.
 */
export async function migrate(
  engine: Engine,
  migrations: readonly Migration[],
  now: number,
  access: SchemaAccess = 'migrate',
): Promise<readonly Migration[]> {
  if ((await pending(engine.reader, migrations, access)).length === 0) return [];
  return engine.transaction(async (tx) => {
    // Several processes may open a new store at once: who comes second finds the work done.
    await engine.dialect.lockKey(tx, 'migrations');
    await tx.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull())
      .addColumn('applied_at', 'bigint', (column) => column.notNull())
      .execute();
    const missing = await pending(tx, migrations, access);
    if (missing.length === 0) return missing;
    const isNew = missing.length === migrations.length;
    const whole = isNew ? engine.wholeSchema(migrations) : null;
    for (const text of whole === null ? missing.map((migration) => migration.text) : [whole])
      await engine.script(tx, text);
    const rows = missing.map(({ number, name, sha256 }) => ({ number, name, sha256, applied_at: now }));
    await tx.insertInto('schema_migrations').values(rows).execute();
    // Daemons of the previous build go on. Those of a new store have opened it for the first time.
    if (!isNew) await engine.endOtherSessions(tx);
    return missing;
  });
}

/** The migrations that the store has not had. Throws as `migrate` does. */
export async function pending(
  db: Db,
  migrations: readonly Migration[],
  access: SchemaAccess,
): Promise<readonly Migration[]> {
  const applied = await appliedMigrations(db);
  const newest = migrations.at(-1)?.number ?? 0;
  const unknown = applied.find((row) => row.number > newest);
  if (unknown !== undefined) {
    throw new SchemaMismatch(
      `The store has schema ${unknown.number} (${unknown.name}); this build knows schemas up to ${newest}. Use ` +
        'the newer build.',
    );
  }
  const altered = applied.find((row) =>
    migrations.some((known) => known.number === row.number && known.sha256 !== row.sha256),
  );
  if (altered !== undefined) {
    throw new SchemaMismatch(
      `Migration ${altered.number} (${altered.name}) of the store is not the one of this build.`,
    );
  }
  const missing = migrations.filter((known) => !applied.some((row) => row.number === known.number));
  const last = applied.at(-1);
  if (access === 'create' && last !== undefined && missing.length > 0) {
    throw new SchemaMismatch(
      `The store has schema ${last.number}; this build needs schema ${newest}. Stop the daemon, make a backup, ` +
        'then run "svc migrate" or start "svc serve".',
    );
  }
  return missing;
}

/** The migrations that the store has had; none in a new database. */
export async function appliedMigrations(db: Db): Promise<readonly { number: number; name: string; sha256: string }[]> {
  try {
    return await db.selectFrom('schema_migrations').select(['number', 'name', 'sha256']).orderBy('number').execute();
  } catch (error) {
    if (dialectOf(db).faultOf(error) === 'missing') return [];
    throw error;
  }
}
