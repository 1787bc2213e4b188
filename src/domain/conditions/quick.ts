import type { Expr } from '../cel/env.ts';
import type { EventFacts } from '../events/event.ts';
import { isEvent, isPairs, selection, textOf, textRead } from './reads.ts';
import { type Requirement, requirementOf, startOf } from './requirements.ts';

/** The value of an expression for an event; undefined if only the CEL library can compute it. */
type Quick = (facts: EventFacts) => boolean | undefined;

/** Of a text and a constant. A part of a text is the same in code units and in code points. */
const COMPARISONS: Readonly<Record<string, (text: string, constant: string) => boolean>> = {
  '_!=_': (text, constant) => text !== constant,
  endsWith: (text, constant) => text.endsWith(constant),
  contains: (text, constant) => text.includes(constant),
};

/**
 * A way to evaluate an expression without the library, which is about ten times slower: most rules compare texts of the
 * event with constants. Null if no part of it can be evaluated so.
 */
export function quickOf(expr: Expr): Quick | null {
  const { exprKind } = expr;
  if (exprKind.case === 'selectExpr') return has(exprKind.value.operand, exprKind.value.field, exprKind.value.testOnly);
  if (exprKind.case !== 'callExpr') return null;
  const { function: name, target, args } = exprKind.value;
  if (name === '_&&_') return joined(args, false);
  if (name === '_||_') return joined(args, true);
  const operands = target === undefined ? args : [target, ...args];
  const [first, second] = operands;
  if (first === undefined) return null;
  if (name === '!_') return negated(quickOf(first));
  if (second === undefined || operands.length > 2) return null;
  const required = requirementOf(expr);
  if (required !== null) return (facts) => isMet(required, facts);
  const start = startOf(expr);
  // What begins like every match of a pattern need not match it: the library answers.
  if (start !== null) return (facts) => (isMet(start, facts) ? (name === 'matches' ? undefined : true) : false);
  const compare = COMPARISONS[name];
  if (compare === undefined) return null;
  return compared(first, second, compare) ?? (target === undefined ? compared(second, first, compare) : null);
}

/** `ending` decides the whole, even if another term yields an error. */
function joined(terms: readonly Expr[], ending: boolean): Quick | null {
  const quicks = terms.map(quickOf);
  if (quicks.every((quick) => quick === null)) return null;
  return (facts) => {
    let known = true;
    for (const quick of quicks) {
      const value = quick?.(facts);
      if (value === ending) return ending;
      if (value === undefined) known = false;
    }
    return known ? !ending : undefined;
  };
}

function negated(quick: Quick | null): Quick | null {
  if (quick === null) return null;
  return (facts) => {
    const value = quick(facts);
    return value === undefined ? undefined : !value;
  };
}

function compared(field: Expr, other: Expr, compare: (text: string, constant: string) => boolean): Quick | null {
  const read = textRead(field);
  const constant = textOf(other);
  if (read === null || constant === null) return null;
  return (facts) => compare(read.textIn(facts), constant);
}

function isMet({ texts, textIn }: Requirement, facts: EventFacts): boolean {
  return texts.includes(textIn(facts));
}

/** `has(event.labels.x)`. */
function has(operand: Expr | undefined, name: string, testOnly: boolean): Quick | null {
  const of = operand === undefined || !testOnly ? null : selection(operand);
  if (of === null || !isPairs(of.field) || !isEvent(of.of)) return null;
  const pairs = of.field;
  return (facts) => Object.hasOwn(facts[pairs], name);
}
