import type { Table } from '../schema/schema.ts';

/** Answers that are kept at most; past that all are forgotten. */
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
  const kept = new Map<string, V>();
  const tables = [table];
  let seen: string | null = null;
  return async (key) => {
    const version = store.version(tables);
    if (version === null) return read(key);
    if (version !== seen || kept.size >= KEPT_MAX) kept.clear();
    seen = version;
    const known = kept.get(key);
    if (known !== undefined || kept.has(key)) return known as V;
    const value = await read(key);
    // Read after the version was asked for, so that it may be newer than that, and never older.
    if (seen === version) kept.set(key, value);
    return value;
  };
}
