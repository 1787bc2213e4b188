/** Which part of all targets this daemon probes. */
export interface Ownership {
  /** Takes or renews parts. Called every second while there are checks. */
  renew(): Promise<void>;
  /** The shards that this daemon may probe now. */
  shards(): ReadonlySet<number>;
  /** What to add to the monotonic clock for the time that slots are counted from, which all daemons share. */
  ahead(): number;
  /** The time of observations, in milliseconds since the epoch. */
  now(): number;
  /** Leaves the parts to others. */
  release(): Promise<void>;
}
