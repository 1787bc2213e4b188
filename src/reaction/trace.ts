import type { StoredStep, TraceStep } from '../domain/events/event.ts';
import { fromJson, type Json, toJson } from '../lib/json.ts';

/** The steps of an evaluation, as they are stored. */
export interface Trace {
  /** Of the rules that matched or could not be evaluated, in the order in which they were tried. */
  readonly steps: readonly TraceStep[];
  /** How many rules did not match: nearly all of them, of nearly all events. Their names are found when asked for. */
  readonly unmatched: number;
  /** How many rules were not tried, as an earlier one had decided. */
  readonly notTried: number;
}

export const NOT_MATCHED = 'It did not match.';

export function unmatchedStep(rule: string): TraceStep {
  return { step: 'rule', rule, result: 'stopped', why: NOT_MATCHED };
}

export function encodeTrace({ steps, unmatched, notTried }: Trace): Json<readonly StoredStep[]> {
  const stored: StoredStep[] = unmatched + notTried > 0 ? [[unmatched, notTried]] : [];
  for (const { step, rule, result, why } of steps) stored.push([step, rule, result, why]);
  return toJson(stored);
}

/** Of `events.trace`. */
export function decodeTrace(text: Json<readonly StoredStep[]>): Trace {
  const steps: TraceStep[] = [];
  let [unmatched, notTried] = [0, 0];
  for (const stored of fromJson(text)) {
    if (typeof stored === 'string') steps.push(unmatchedStep(stored));
    else if (stored.length === 2) [unmatched, notTried] = stored;
    else {
      const [step, rule, result, why] = stored;
      steps.push({ step, rule, result, why });
    }
  }
  return { steps, unmatched, notTried };
}
