import type { TagReader } from '../../store/engine/tags/tags.ts';
import type { Store } from '../../store/store.ts';
import { findToken, findTokens, type Token } from '../../store/access/tokens.ts';

/** Queries under way at a time: the rest wait and join the next one, so that connections are left for the answers. */
const QUERIES_MAX = 2;
/** Ids in one query. */
const IDS_MAX = 200;

export type ReadToken = (id: string) => Promise<Token | undefined>;

/**
 * Reads token rows at each request. Where asking the store whether anything changed costs as much as reading
 * (`version()` is null), requests that arrive together share a query, and that query begins after the last of them
 * arrived: no request is accepted because of a row that was read before it came.
 */
export function createTokenReader(store: Store): ReadToken {
  if (store.version() !== null) return (id) => findToken(store, id);
  const shared = new SharedReads(store);
  return (id) => shared.read(id);
}

class SharedReads {
  readonly #at: TagReader;
  #next = new Map<string, PromiseWithResolvers<Token | undefined>>();
  #running = 0;

  constructor(at: TagReader) {
    this.#at = at;
  }

  read(id: string): Promise<Token | undefined> {
    let waiter = this.#next.get(id);
    if (waiter === undefined) {
      waiter = Promise.withResolvers();
      this.#next.set(id, waiter);
      // One turn of the event loop lets the requests that arrived together join.
      if (this.#next.size === 1) setImmediate(() => void this.#start());
    }
    return waiter.promise;
  }

  async #start(): Promise<void> {
    if (this.#running >= QUERIES_MAX) return;
    this.#running += 1;
    while (this.#next.size > 0) {
      const batch = [...this.#next].slice(0, IDS_MAX);
      for (const [id] of batch) this.#next.delete(id);
      await this.#query(batch);
    }
    this.#running -= 1;
  }

  async #query(batch: readonly [string, PromiseWithResolvers<Token | undefined>][]): Promise<void> {
    try {
      const found = await findTokens(
        this.#at,
        batch.map(([id]) => id),
      );
      const rows = new Map(found.map((row) => [row.id, row]));
      for (const [id, waiter] of batch) waiter.resolve(rows.get(id));
    } catch (error) {
      for (const [, waiter] of batch) waiter.reject(error);
    }
  }
}
