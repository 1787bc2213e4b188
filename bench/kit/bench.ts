import type { Report } from './report.ts';

/** What a part works with. */
export interface Bench {
  readonly report: Report;
  /** Shorter and rougher: for trying the bench itself. */
  readonly quick: boolean;
}

export type Part = (bench: Bench) => Promise<void>;
