import { KeptValues } from '../../lib/caches/kept-values.ts';
import type { Table } from '../schema/schema.ts';

/** Answers that are kept at most. */
const KEPT_MAX = 1_000;

/**
 * As `read`, which reads `table`: its answer for a key is kept until this process writes to that table, or another one
 * to any. Where the store has no version that is cheap to ask for, each call reads.
 */
export function whileUnchanged<V>(
  store: { version(tables: readonly Table[]): string | null },
  table: Table,
  read: (key: string) => Promise<V>,
): (key: string) => Promise<V> {
  const kept = new KeptValues<{ readonly value: V }>({ most: KEPT_MAX, sizeOf: () => 1 });
  const tables = [table];
  return async (key) => {
    // Asked for before the row is read.
    const version = store.version(tables);
    const known = kept.find(version, key);
    if (known !== undefined) return known.value;
    const value = await read(key);
    kept.keep(version, key, { value });
    return value;
  };
}
