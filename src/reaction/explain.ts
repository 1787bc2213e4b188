import type { EventFacts, TraceStep } from '../domain/events/event.ts';
import { explainTerms } from '../domain/conditions/explain.ts';
import type { Rule } from '../domain/rules/rule.ts';
import { findRule } from '../store/rules/rules.ts';
import type { Db, EventRow } from '../store/schema/schema.ts';
import { factsOf } from '../store/events/events.ts';
import type { CompiledRule } from './rules/compiled-rules.ts';
import { decodeTrace, NOT_MATCHED, type Trace, unmatchedStep } from './trace.ts';

/** Rules without a match that are shown by name, with their terms; the others are counted. */
const UNMATCHED_MAX = 100;

/**
 * The steps of an event's evaluation. A rule that did not match or could not be evaluated is listed with its terms, if
 * it is unchanged since: to store them with each event, or only the names, would cost more than everything else of it.
 * `rulesNow` reads and compiles those that the event would be tried on now: only where the row does not name them.
 */
export async function explainSteps(
  db: Db,
  row: EventRow,
  rulesNow: () => Promise<readonly CompiledRule[]>,
): Promise<readonly TraceStep[]> {
  const trace = decodeTrace(row.trace);
  const steps = trace.unmatched + trace.notTried === 0 ? trace.steps : named(trace, row, await rulesNow());
  const facts = factsOf(row, row.received_at);
  return explained(steps, (step) => explainThen(db, step, facts));
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

/** With the rules that were only counted: those that are unchanged since by name, in the order of all names. */
function named(
  { steps, unmatched, notTried }: Trace,
  { rule: deciding, received_at: receivedAt }: EventRow,
  rules: readonly CompiledRule[],
): readonly TraceStep[] {
  const own = new Set(steps.map(({ rule }) => rule));
  const others = rules.filter(({ name, createdAt }) => createdAt <= receivedAt && !own.has(name));
  const isBehind = ({ name }: CompiledRule): boolean => notTried > 0 && deciding !== null && name > deciding;
  const isSame = ({ changedAt }: CompiledRule): boolean => changedAt <= receivedAt;
  const before = others.filter((rule) => !isBehind(rule));
  const behind = others.filter((rule) => isBehind(rule) && isSame(rule));
  const same = before.filter(isSame);
  const changed = before.filter((rule) => !isSame(rule)).slice(0, Math.max(0, unmatched - same.length));
  const all = [
    ...steps.filter(({ rule }) => rule !== null),
    ...[...same, ...changed].slice(0, UNMATCHED_MAX).map(({ name }) => unmatchedStep(name)),
  ];
  const shown = same.length + changed.length;
  return [
    // The order of steps with the same name stays.
    ...all.toSorted((a, b) => byName(a.rule, b.rule)),
    ...behind.map(({ name }) => notReachedStep(name)),
    ...counted(shown - UNMATCHED_MAX, 'stopped', 'did not match'),
    ...counted(unmatched - shown, 'stopped', 'did not match and were changed or removed since'),
    ...counted(notTried - behind.length, 'not reached', 'were not tried and were changed or removed since'),
    ...steps.filter(({ rule }) => rule === null),
  ];
}

function byName(a: string | null, b: string | null): number {
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}

function notReachedStep(rule: string): TraceStep {
  return { step: 'rule', rule, result: 'not reached', why: 'An earlier rule had decided.' };
}

function counted(count: number, result: TraceStep['result'], what: string): TraceStep[] {
  return count <= 0 ? [] : [{ step: 'rule', rule: null, result, why: `More rules that ${what}: ${count}.` }];
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
