/** What the child program of the part `pages` reads and answers. */
export type NotificationOrder =
  | {
      readonly do: 'start';
      readonly dataDir: string;
      /** Of the live endpoint's certificate. */
      readonly ca: string;
      /** Ports of loopback, by the public address that they stand for. */
      readonly ports: Readonly<Record<string, number>>;
      readonly endpoints: readonly string[];
    }
  /** Runs one armed job; the answer is `Ended`. */
  | { readonly do: 'job' }
  | { readonly do: 'stop' };

export interface Ended {
  readonly jobId: string;
  /** By the machine's monotonic clock, when the end was committed. */
  readonly atMs: number;
}
