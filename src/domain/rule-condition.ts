import type { CheckedCel } from './cel.ts';
import type { Expr } from './cel-env.ts';
import { CelRefused } from './cel-refused.ts';
import { word } from './cel-shape.ts';
import { EVENT_SOURCES, EVENT_STATUSES, type EventFacts } from './event.ts';
import { checkRuleCel, eventContext, missingLabel } from './rule-facts.ts';
import { isEvent, selection, type TextRead, textOf, textRead } from './rule-reads.ts';

/** An expression over `event` that is true or false: the `when` of a rule or a silence. */
export interface Condition {
  /** The sources that it can be true for; null where it does not say. */
  readonly sources: readonly string[] | null;
  readonly expr: Expr;
  /** Never throws; an error is told without any value of the event. */
  evaluate(facts: EventFacts): ConditionAnswer;
}

export type ConditionAnswer = { readonly value: boolean } | { readonly error: string };

/** Reads and checks it. Throws CelRefused, whose message names the place and what is wrong. */
export async function compileCondition(expression: string): Promise<Condition> {
  const checked = await checkRuleCel(expression);
  if (checked.shape.kind !== 'bool') throw new CelRefused(`the expression must yield true or false; it yields ${word(checked.shape)}`);
  const sources = sourcesOf(checked.expr);
  const unknown = sources?.find((source) => !(EVENT_SOURCES as readonly string[]).includes(source));
  if (unknown !== undefined) throw new CelRefused(`no event has the source ${JSON.stringify(unknown)}; there are ${EVENT_SOURCES.join(', ')}`);
  const equalities = equalitiesOf(checked.expr);
  const never = equalities.find(({ field, text }) => field === 'status' && !STATUSES.includes(text));
  if (never !== undefined) throw new CelRefused(`no event has the status ${JSON.stringify(never.text)}; it is ${STATUSES.slice(1).join(', ')} or, where the sender gave none, empty`);
  return { sources, expr: checked.expr, evaluate: (facts) => (equalities.some((each) => isFalse(each, facts)) ? { value: false } : evaluate(checked, facts)) };
}

const STATUSES: readonly string[] = ['', ...EVENT_STATUSES];

/** A term that compares a text of the event with a constant. */
interface Equality extends TextRead {
  readonly text: string;
}

/**
 * The equalities among the terms that an expression joins by `&&`. When one is false, so is the whole, whatever the
 * other terms yield, an error too. Nearly all rules that don't match an event are ruled out so, at a hundredth of the cost.
 */
function equalitiesOf(expr: Expr): Equality[] {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr') return [];
  const { function: name, args } = exprKind.value;
  const [left, right] = args;
  if (left === undefined || right === undefined) return [];
  if (name === '_&&_') return [...equalitiesOf(left), ...equalitiesOf(right)];
  if (name !== '_==_') return [];
  const found = equality(left, right) ?? equality(right, left);
  return found === null ? [] : [found];
}

function equality(field: Expr, constant: Expr): Equality | null {
  const text = textOf(constant);
  const read = textRead(field);
  return text === null || read === null ? null : { ...read, text };
}

/** Not where the text is missing: that is an error, which the whole expression has to tell. */
function isFalse({ textIn, text }: Equality, facts: EventFacts): boolean {
  const found = textIn(facts);
  return found !== undefined && found !== text;
}

function evaluate(checked: CheckedCel, facts: EventFacts): ConditionAnswer {
  const outcome = checked.run(eventContext(facts));
  if ('error' in outcome) return { error: explain(outcome, facts) };
  return typeof outcome.value === 'boolean' ? { value: outcome.value } : { error: 'it yields neither true nor false' };
}

/** The words of an error of an evaluation. */
export function explain({ error, missing }: { readonly error: string; readonly missing?: string }, facts: EventFacts): string {
  return missing === undefined ? error : missingLabel(missing, facts);
}

/**
 * The sources that an expression asks for in one of the terms that it joins by `&&`: whatever the other terms yield,
 * an error too, for another source it is false. A rule that says so costs nothing for events of other sources.
 */
function sourcesOf(expr: Expr): readonly string[] | null {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr') return null;
  const { function: name, args } = exprKind.value;
  const [left, right] = args;
  if (left === undefined || right === undefined) return null;
  if (name === '_&&_') return sourcesOf(left) ?? sourcesOf(right);
  if (name === '_==_') return one(left, right) ?? one(right, left);
  if (name === '@in' && isSource(left) && right.exprKind.case === 'listExpr') {
    const texts = right.exprKind.value.elements.map(textOf);
    return texts.every((each) => each !== null) ? texts : null;
  }
  return null;
}

function one(field: Expr, constant: Expr): readonly string[] | null {
  const text = textOf(constant);
  return isSource(field) && text !== null ? [text] : null;
}

function isSource(expr: Expr): boolean {
  const selected = selection(expr);
  return selected?.field === 'source' && isEvent(selected.of);
}
