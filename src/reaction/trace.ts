import { NOT_MATCHED } from '../domain/rules/reaction.ts';
import type { TraceStep } from '../domain/events/event.ts';

/**
 * The stored steps of an evaluation: short, because an event has one for each rule, and nearly all rules did not match.
 */
type StoredStep =
  readonly [step: TraceStep['step'], rule: string | null, result: TraceStep['result'], why: string] | string;

/** Rules that did not match and are listed by name; the others are counted. */
const UNMATCHED_MAX = 100;

export function encodeTrace(steps: readonly TraceStep[]): string {
  const stored: StoredStep[] = [];
  let unmatched = 0;
  for (const { step, rule, result, why } of steps) {
    const plain = step === 'rule' && result === 'stopped' && rule !== null && why === NOT_MATCHED;
    if (!plain) stored.push([step, rule, result, why]);
    else if (++unmatched <= UNMATCHED_MAX) stored.push(rule);
  }
  if (unmatched > UNMATCHED_MAX)
    stored.push(['rule', null, 'stopped', `${unmatched - UNMATCHED_MAX} more rules did not match.`]);
  return JSON.stringify(stored);
}

/** The steps of `events.trace`. */
export function decodeTrace(text: string): readonly TraceStep[] {
  return (JSON.parse(text) as readonly StoredStep[]).map((stored): TraceStep => {
    if (typeof stored === 'string') return { step: 'rule', rule: stored, result: 'stopped', why: NOT_MATCHED };
    const [step, rule, result, why] = stored;
    return { step, rule, result, why };
  });
}
