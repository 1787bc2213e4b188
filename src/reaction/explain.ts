import type { EventFacts, TraceStep } from '../domain/events/event.ts';
import { NOT_MATCHED } from '../domain/rules/reaction.ts';
import { explainTerms } from '../domain/conditions/explain.ts';
import type { Rule } from '../domain/rules/rule.ts';
import { findRule } from '../store/rules/rules.ts';
import type { Db, EventRow } from '../store/schema/schema.ts';
import { factsOf } from '../store/events/events.ts';
import { decodeTrace } from './trace.ts';

/**
 * The steps of an event's evaluation. A rule that did not match or could not be evaluated is listed with its terms, if
 * it is unchanged since: to store them with each event would cost more than everything else of it.
 */
export async function explainSteps(db: Db, row: EventRow): Promise<readonly TraceStep[]> {
  const facts = factsOf(row, row.received_at);
  return explained(decodeTrace(row.trace), (step) => explainThen(db, step, facts));
}

/** The steps of a dry run of one rule at `now`, in milliseconds since the epoch, in the same words. */
export async function explainTrial(
  trace: readonly TraceStep[],
  { when }: Pick<Rule, 'when'>,
  row: EventRow,
  now: number,
): Promise<readonly TraceStep[]> {
  const facts = factsOf(row, now);
  return explained(trace, (step) => withTerms(step, when, facts));
}

async function explained(
  trace: readonly TraceStep[],
  explain: (step: TraceStep) => Promise<TraceStep>,
): Promise<readonly TraceStep[]> {
  const steps: TraceStep[] = [];
  for (const step of trace) {
    const isOpen = step.step === 'rule' && (step.why === NOT_MATCHED || step.result === 'error');
    steps.push(isOpen ? await explain(step) : step);
  }
  return steps;
}

async function explainThen(db: Db, step: TraceStep, facts: EventFacts): Promise<TraceStep> {
  if (step.rule === null) return step;
  const rule = await findRule(db, step.rule);
  if (rule !== undefined && rule.updated_at <= facts.receivedAt) return withTerms(step, rule.when_text, facts);
  return step.result === 'error' ? step : { ...step, why: 'It did not match. The rule has changed since.' };
}

async function withTerms(step: TraceStep, when: string, facts: EventFacts): Promise<TraceStep> {
  const terms = await explainTerms(when, facts);
  const first = step.result === 'error' ? undefined : terms.find(({ result }) => result === 'false');
  return {
    ...step,
    ...(first === undefined ? {} : { why: `It did not match. This term is false: ${first.term}` }),
    ...(terms.length === 0 ? {} : { terms }),
  };
}
