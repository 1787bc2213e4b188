import { answerOf, CEL_LENGTH_MAX, type CelAnswer, parseCel } from '../cel/cel.ts';
import type { Expr } from '../cel/env.ts';
import { CelRefused } from '../cel/refused.ts';
import { word } from '../cel/shape.ts';
import { EVENT_SOURCES, EVENT_STATUSES, type EventFacts } from '../events/event.ts';
import { checkRuleCel, eventContext } from './facts.ts';
import { quickOf } from './quick.ts';
import { isEvent, selection, textOf } from './reads.ts';
import { type Requirement, requirementsOf } from './requirements.ts';

/** An expression over `event` that yields true or false: the `when` of a rule or a silence. */
export interface Condition {
  /** The sources that it can be true for; null where it does not say. */
  readonly sources: readonly string[] | null;
  /** The texts that it requires, beside any more that it asks: it is false for each event without one of them. */
  readonly requires: readonly Requirement[];
  readonly expr: Expr;
  /** Never throws; an error holds no value of the event. */
  evaluate(facts: EventFacts): CelAnswer;
}

/** Of a condition that is stored: what trying it on an event takes. */
export type StoredCondition = Pick<Condition, 'sources' | 'requires' | 'evaluate'>;

/**
 * Reads a condition that was accepted before, perhaps by an earlier version. If this version refuses it, it is an error
 * at each event of its sources, and false for others. Never throws: one broken condition must not keep the others from
 * an event.
 */
export async function storedCondition(expression: string): Promise<StoredCondition> {
  try {
    return await compileCondition(expression);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : 'it cannot be parsed';
    const sources = await sourcesIn(expression);
    return {
      sources,
      requires: [],
      evaluate: ({ source }) => (sources?.includes(source) === false ? { value: false } : { error }),
    };
  }
}

/** Null also where the text cannot be read. */
async function sourcesIn(expression: string): Promise<readonly string[] | null> {
  try {
    return expression.length > CEL_LENGTH_MAX ? null : sourcesOf(await parseCel(expression));
  } catch {
    return null;
  }
}

/** Reads and checks it. Throws CelRefused, whose message names the place and what is wrong. */
export async function compileCondition(expression: string): Promise<Condition> {
  const checked = await checkRuleCel(expression);
  if (checked.shape.kind !== 'bool')
    throw new CelRefused(`the expression must yield true or false; it yields ${word(checked.shape)}`);
  const sources = sourcesOf(checked.expr);
  const unknown = sources?.find((source) => !(EVENT_SOURCES as readonly string[]).includes(source));
  if (unknown !== undefined)
    throw new CelRefused(
      `no event has the source ${JSON.stringify(unknown)}; expected one of ${EVENT_SOURCES.join(', ')}`,
    );
  const never = statusesOf(checked.expr).find((status) => !STATUSES.includes(status));
  if (never !== undefined)
    throw new CelRefused(
      `no event has the status ${JSON.stringify(never)}; expected ${STATUSES.slice(1).join(', ')} or, if the ` +
        'sender gave none, an empty text',
    );
  const quick = quickOf(checked);
  return {
    sources,
    requires: requirementsOf(checked.expr),
    expr: checked.expr,
    evaluate(facts) {
      const value = quick?.(facts);
      return value === undefined ? answerOf(checked.run(eventContext(facts))) : { value };
    },
  };
}

const STATUSES: readonly string[] = ['', ...EVENT_STATUSES];

/** The statuses required by the terms that an expression joins by `&&`. */
function statusesOf(expr: Expr): readonly string[] {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr') return [];
  const { function: name, args } = exprKind.value;
  if (name === '_&&_') return args.flatMap(statusesOf);
  if (name !== '_==_' || !args.some((each) => isField(each, 'status'))) return [];
  return args.map(textOf).filter((text) => text !== null);
}

/**
 * The sources required by one of the terms that an expression joins by `&&`. For another source the expression is
 * false, even if another term yields an error. Such a rule costs nothing for events of other sources.
 */
function sourcesOf(expr: Expr): readonly string[] | null {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr') return null;
  const { function: name, args } = exprKind.value;
  const [left, right] = args;
  if (left === undefined || right === undefined) return null;
  if (name === '_&&_') return sourcesOf(left) ?? sourcesOf(right);
  if (name === '_==_') return one(left, right) ?? one(right, left);
  if (name === '@in' && isField(left, 'source') && right.exprKind.case === 'listExpr') {
    const texts = right.exprKind.value.elements.map(textOf);
    return texts.every((each) => each !== null) ? texts : null;
  }
  return null;
}

function one(field: Expr, constant: Expr): readonly string[] | null {
  const text = textOf(constant);
  return isField(field, 'source') && text !== null ? [text] : null;
}

function isField(expr: Expr, field: 'source' | 'status'): boolean {
  const selected = selection(expr);
  return selected?.field === field && isEvent(selected.of);
}
