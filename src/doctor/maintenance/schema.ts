import { appliedMigrations, SchemaMismatch } from '../../store/engine/migrate.ts';
import type { Migration } from '../../store/engine/migration.ts';
import { knownMigrations, type Store } from '../../store/store.ts';
import { fail, type Facts, type Finding, ok, unknown } from '../entry.ts';

/** Compares the applied migrations with those of this build: missing, unknown and altered ones are faults. */
export async function examineSchema({ openedStore }: Facts): Promise<Finding> {
  let store: Store;
  try {
    store = openedStore();
  } catch (error) {
    return error instanceof SchemaMismatch ? fail(error.message) : unknown('The store is not open.');
  }
  const [trigger] = await store.dialect.triggers(store.db);
  if (trigger !== undefined)
    return fail(
      `The database has a trigger that no migration made: ${trigger}. It can change or drop what is written.`,
    );
  const known = knownMigrations(store.dialect.name);
  return judgeSchema(await appliedMigrations(store.db), known);
}

type Applied = Pick<Migration, 'number' | 'name' | 'sha256'>;

export function judgeSchema(applied: readonly Applied[], known: readonly Applied[]): Finding {
  const name = ({ number, name }: Applied): string => `${number} (${name})`;
  const missing = known.find((each) => !applied.some((row) => row.number === each.number));
  if (missing !== undefined) return fail(`Migration ${name(missing)} has not been applied.`);
  const foreign = applied.find((row) => !known.some((each) => each.number === row.number));
  if (foreign !== undefined)
    return fail(`Migration ${name(foreign)} of the store is unknown to this build. Use the newer build.`);
  const altered = applied.find((row) => known.some((each) => each.number === row.number && each.sha256 !== row.sha256));
  if (altered !== undefined) return fail(`Migration ${name(altered)} of the store is not the one of this build.`);
  return ok(`Schema ${applied.at(-1)?.number ?? 0}; ${applied.length} of ${known.length} migrations applied.`);
}
