import { JOB_KINDS, type JobKind } from '../jobs/job.ts';
import { KINDS } from '../kinds.ts';

/** Kinds whose rule may allow one tap. Only the author of the rule knows what they do. */
export const ONE_TAP_KINDS: readonly string[] = JOB_KINDS.filter((kind) => KINDS[kind].oneTap === 'by-rule');

/** What a request asks for, as far as one tap is concerned. */
interface OneTapFacts {
  readonly kind: JobKind;
  /** Destroys of the saved plan, replacements included; null without a plan, or where it cannot be opened. */
  readonly destroys: number | null;
  /** Whether the requesting rule has `one_tap: true`. */
  readonly ruleAllows: boolean;
}

/** Whether a person may approve it without the page that shows it: only a job that is known to destroy nothing. */
export function isOneTap({ kind, destroys, ruleAllows }: OneTapFacts): boolean {
  const { oneTap } = KINDS[kind];
  return oneTap === 'by-plan' ? destroys === 0 : oneTap === 'by-rule' && ruleAllows;
}
