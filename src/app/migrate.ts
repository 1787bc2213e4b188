import type { Settings } from '../config/settings/settings.ts';
import { appliedMigrations } from '../store/engine/migrate.ts';
import { openBase } from './base.ts';

/** The newest migration that the store had before, 0 for a new store, and the one that it has now. */
export interface SchemaChange {
  readonly from: number;
  readonly to: number;
}

/** Brings the schema of the store up to date, or makes it. Throws Failure. */
export async function runMigrate(settings: Settings): Promise<SchemaChange> {
  const base = await openBase(settings, 'migrate');
  try {
    const applied = await appliedMigrations(base.store.db);
    const numbers = applied.map((row) => row.number);
    const changed = base.store.migrated.map((row) => row.number);
    return { from: numbers.findLast((number) => !changed.includes(number)) ?? 0, to: numbers.at(-1) ?? 0 };
  } finally {
    await base.close();
  }
}
