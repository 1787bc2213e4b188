import type { JobState } from '../jobs/job.ts';
import type { RuleApproval } from './rule.ts';

/** What is known of an event and of the rules that were tried on it, when it is decided what becomes of it. */

/** A rule that matched an event, or could not be evaluated on it. Of the others only their number is known. */
export interface TriedRule {
  readonly name: string;
  /** Its action only notifies: it never ends the search. */
  readonly notifies: boolean;
  readonly result: 'matched' | 'error';
  /** Of an error: why, as the end of a sentence. */
  readonly error: string | null;
  /** Why the values of its action cannot be filled in; null where they can. */
  readonly unfit: string | null;
  readonly silence: { readonly id: string; readonly reason: string; readonly expiresAt: number } | null;
  /** Open silences for it that could not be evaluated, with why as the end of a sentence: they stop nothing. */
  readonly failedSilences: readonly { readonly id: string; readonly error: string }[];
  readonly cooldownMs: number | null;
  readonly approval: RuleApproval;
}

/** What the store remembers of a rule and the thing that an event is about. */
export interface Standing {
  /** When the rule last acted for this fingerprint, whatever the status was, in milliseconds; null for never. */
  readonly lastFiredAt: number | null;
  /** The job that it made for this fingerprint and this status, while that has not ended. */
  readonly openJob: { readonly id: string; readonly state: JobState } | null;
}

export const NO_STANDING: Standing = { lastFiredAt: null, openJob: null };

export interface ReactionFacts {
  /** In milliseconds since the epoch, by the clock that the fires were noted with. */
  readonly now: number;
  /** In the order of their names. */
  readonly tried: readonly TriedRule[];
  /** How many rules were tried and did not match. */
  readonly unmatched: number;
  /** Of each rule that matched. */
  readonly standings: ReadonlyMap<string, Standing>;
  readonly cordoned: boolean;
  readonly depth: number;
}
