import { JOB_KINDS, type JobKind } from '../jobs/job.ts';
import { KINDS } from '../jobs/kinds.ts';

/** Kinds whose rule may allow one tap. What they do is known to whoever wrote the rule, and to nobody else. */
export const ONE_TAP_KINDS: readonly string[] = JOB_KINDS.filter((kind) => KINDS[kind].oneTap === 'by-rule');

/** What a request asks for, as far as one tap is concerned. */
interface OneTapFacts {
  readonly kind: JobKind;
  /** Of the saved plan, replacements counted as destroys; null where there is none, or where it cannot be opened. */
  readonly destroys: number | null;
  /** Whether the rule that asked has `one_tap: true`. */
  readonly ruleAllows: boolean;
}

/**
 * Whether a person may approve it without having opened the page that shows it: only what is known to destroy nothing.
 * A destroy, a fresh apply and everything else is not.
 */
export function isOneTap({ kind, destroys, ruleAllows }: OneTapFacts): boolean {
  const { oneTap } = KINDS[kind];
  return oneTap === 'by-plan' ? destroys === 0 : oneTap === 'by-rule' && ruleAllows;
}
