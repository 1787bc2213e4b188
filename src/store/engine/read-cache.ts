/** Answers that are kept at most; past that all are forgotten. */
const KEPT_MAX = 1_000;

/**
 * As `read`, whose answer for a key is kept until anybody commits. Where the store has no version that is cheap to ask
 * for, each call reads.
 */
export function whileUnchanged<V>(
  store: { version(): string | null },
  read: (key: string) => Promise<V>,
): (key: string) => Promise<V> {
  const kept = new Map<string, V>();
  let seen: string | null = null;
  return async (key) => {
    const version = store.version();
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
