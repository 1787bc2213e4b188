const ends = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `end` when `signal` aborts, unless the result was called before. Thousands of connections share the signal of
 * their caller: `addEventListener` compares each new listener with all others, a set does not.
 */
export function onAbort(signal: AbortSignal, end: () => void): () => void {
  const entry = (): void => end();
  const entries = ends.get(signal) ?? register(signal);
  entries.add(entry);
  return () => void entries.delete(entry);
}

function register(signal: AbortSignal): Set<() => void> {
  const entries = new Set<() => void>();
  ends.set(signal, entries);
  const endAll = (): void => {
    for (const each of entries) each();
    entries.clear();
  };
  signal.addEventListener('abort', endAll, { once: true });
  return entries;
}
