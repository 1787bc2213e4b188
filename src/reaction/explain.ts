import type { EventFacts, TraceStep } from '../domain/event.ts';
import { NOT_MATCHED } from '../domain/reaction.ts';
import { compileCondition } from '../domain/rule-condition.ts';
import { splitTerms } from '../domain/rule-terms.ts';
import type { Rule } from '../domain/rule.ts';
import { findRule } from '../store/rules.ts';
import type { Db, EventRow } from '../store/schema.ts';
import { eventOf } from './dry-run.ts';
import { decodeTrace } from './trace.ts';

/**
 * The steps of an event's evaluation. Of a rule that did not match, and that is still what it was then, the term is
 * named that was false: to store that with each event would cost more than all else of it.
 */
export async function explainSteps(db: Db, row: EventRow): Promise<readonly TraceStep[]> {
  const facts = factsOf(row, row.received_at);
  const steps: TraceStep[] = [];
  for (const step of decodeTrace(row.trace)) steps.push(isUnmatched(step) ? await explainThen(db, step, facts) : step);
  return steps;
}

/** The steps of a trial of one rule at `now`, in milliseconds, in the same words. */
export async function explainTrial(trace: readonly TraceStep[], { when }: Pick<Rule, 'when'>, row: EventRow, now: number): Promise<readonly TraceStep[]> {
  const facts = factsOf(row, now);
  const steps: TraceStep[] = [];
  for (const step of trace) steps.push(isUnmatched(step) ? await withTerm(step, when, facts) : step);
  return steps;
}

function factsOf(row: EventRow, receivedAt: number): EventFacts {
  const event = eventOf(row);
  return { ...event, netgroup: event.labels['netgroup'] ?? null, receivedAt };
}

function isUnmatched({ why }: TraceStep): boolean {
  return why === NOT_MATCHED;
}

async function explainThen(db: Db, step: TraceStep, facts: EventFacts): Promise<TraceStep> {
  if (step.rule === null) return step;
  const rule = await findRule(db, step.rule);
  if (rule === undefined || rule.updated_at > facts.receivedAt) return { ...step, why: 'It did not match; the rule is another one now.' };
  return withTerm(step, rule.when_text, facts);
}

async function withTerm(step: TraceStep, when: string, facts: EventFacts): Promise<TraceStep> {
  const term = await falseTerm(when, facts);
  return term === null ? step : { ...step, why: `It did not match: this is false: ${term}` };
}

/** The first term that is false on its own; null where that can not be told. */
async function falseTerm(when: string, facts: EventFacts): Promise<string | null> {
  for (const term of splitTerms(when)) {
    try {
      const answer = (await compileCondition(term)).evaluate(facts);
      if ('value' in answer && !answer.value) return term;
    } catch {
      return null;
    }
  }
  return null;
}
