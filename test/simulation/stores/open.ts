import { sqliteStores } from './sqlite.ts';
import type { StoreKind, Stores } from './store.ts';

const OPEN = {
  sqlite: sqliteStores,
  postgres: async (home) => (await import('./postgres.ts')).postgresStores(home),
} satisfies Record<StoreKind, (home: string) => Promise<Stores>>;

/** `home` is a folder for what they have on the disk; closing removes it. */
export function openStores(kind: StoreKind, home: string): Promise<Stores> {
  return OPEN[kind](home);
}
