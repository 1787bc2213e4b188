import { inNoName } from '../../lib/flow/in-name-of.ts';
import type { Store } from '../../store/store.ts';
import { findToken, findTokens } from '../../store/access/tokens.ts';
import type { Db, TokenRow } from '../../store/schema/schema.ts';

/** Queries under way at a time: the rest wait and join the next one, so that connections are left for the answers. */
const QUERIES_MAX = 2;
/** Ids in one query. */
const IDS_MAX = 200;

export type ReadToken = (id: string) => Promise<TokenRow | undefined>;

/**
 * Reads token rows at each request. Where asking the store whether anything changed costs as much as reading
 * (`version()` is null), requests that arrive together share a query, and that query begins after the last of them
 * arrived: no request is accepted because of a row that was read before it came. A row is as the database has it: its
 * tag is checked by those who use it.
 */
export function createTokenReader(store: Store): ReadToken {
  if (store.version() !== null) return (id) => findToken(store.db, id);
  const shared = new SharedReads(store.db);
  return (id) => shared.read(id);
}

class SharedReads {
  readonly #db: Db;
  #next = new Map<string, PromiseWithResolvers<TokenRow | undefined>>();
  #running = 0;

  constructor(db: Db) {
    this.#db = db;
  }

  read(id: string): Promise<TokenRow | undefined> {
    let waiter = this.#next.get(id);
    if (waiter === undefined) {
      waiter = Promise.withResolvers();
      this.#next.set(id, waiter);
      // One turn of the event loop lets the requests that arrived together join.
      if (this.#next.size === 1) setImmediate(() => void inNoName(() => this.#start()));
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

  async #query(batch: readonly [string, PromiseWithResolvers<TokenRow | undefined>][]): Promise<void> {
    try {
      const found = await findTokens(
        this.#db,
        batch.map(([id]) => id),
      );
      const rows = new Map(found.map((row) => [row.id, row]));
      for (const [id, waiter] of batch) waiter.resolve(rows.get(id));
    } catch (error) {
      for (const [, waiter] of batch) waiter.reject(error);
    }
  }
}
