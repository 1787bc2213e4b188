import type { Renewal, SharedLease } from './trust.ts';

/** What the thread of a lease gets: at its start, and when the daemon has another name. */
export interface LeaseOrder extends Followed {
  /** Of the PostgreSQL. */
  readonly url: string;
  readonly leaseMs: number;
  readonly shared: SharedLease;
  /** Where it writes the limits for the guard. */
  readonly file: string;
}

export interface Followed {
  readonly daemonId: string;
}

/** Its message after each renewal: its result, or why the server did not answer. */
export type LeaseNews = Followed & ({ readonly renewal: Renewal } | { readonly failed: string });
