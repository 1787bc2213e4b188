/** What the child programs read and answer. */
export type DaemonOrder =
  | { readonly do: 'start'; readonly dataDir: string }
  | { readonly do: 'http' | 'invoke'; readonly count: number }
  | { readonly do: 'watch' | 'stop' };

export interface StoreOrder {
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** By default that of the data directory. */
  readonly sealKeyFile?: string;
}

export type EnqueueOrder =
  | (StoreOrder & { readonly do: 'open' })
  | { readonly do: 'one' }
  | { readonly do: 'many'; readonly callers: number; readonly durationMs: number };

export interface Enqueued {
  readonly jobId: string;
  /** Monotonic, before the call and after its commit. */
  readonly calledAt: number;
  readonly committedAt: number;
}

export interface ClaimOrder {
  readonly file: string;
  /** Jobs that a claim takes at most: the free slots of a daemon. */
  readonly slots: number;
}

export interface Claimed {
  readonly ids: readonly string[];
  readonly refused: number;
  readonly from: number;
  readonly to: number;
}

export interface RecordOrder {
  /** An empty directory for its files. */
  readonly dir: string;
  readonly lines: number;
}

export interface Recorded {
  readonly linesPerSecond: number;
  readonly floorLinesPerSecond: number;
}

export type CheckoutOrder =
  | { readonly do: 'start'; readonly dataDir: string }
  | {
      readonly do: 'walk';
      readonly dir: string;
      readonly repositories: readonly { readonly url: string; readonly ref: string | null }[];
    }
  | { readonly do: 'stop' };

export type TurnsOrder = { readonly do: 'start'; readonly dataDir: string } | { readonly do: 'begin' | 'end' | 'stop' };
