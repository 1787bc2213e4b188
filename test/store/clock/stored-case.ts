import type { Store } from '../../../src/store/store.ts';

export interface StoredCase {
  /** Stores it with the clock that is ahead, which shows `now`. */
  readonly put: (store: Store, now: number) => Promise<unknown>;
  /** The rows to look at. */
  readonly table: string;
  /** The columns that are corrected, and how long after the corrected time each is. */
  readonly becomes: Readonly<Record<string, number>>;
  /** Only where daemons have leases. */
  readonly leased?: true;
}
