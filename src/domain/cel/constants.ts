import type * as Cel from '@bufbuild/cel';
import type { CelEnvironment, Expr } from './env.ts';
import { faultOf, isConversionFault, isZoneFault } from './fault.ts';
import { didYouMean } from './refused.ts';

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value'];
type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];
type Struct = Extract<Expr['exprKind'], { case: 'structExpr' }>['value'];

export interface ConstantsOptions {
  readonly environment: CelEnvironment;
  /** Throws CelRefused with the place of the expression in front of what is wrong. */
  readonly refuse: (expr: Expr, what: string) => never;
  readonly text: string;
}

interface Trial extends ConstantsOptions {
  /** What was worked out, by the name that stands for it. */
  readonly values: Record<string, Cel.CelInput>;
  /** How many of them there are. */
  count: number;
}

/** A part of the expression, with a name in the place of each value that was worked out. */
interface Part {
  readonly expr: Expr;
  /** The names that it reads; of constants alone it is where there are none. */
  readonly free: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();
/** No text can hold an `@`. */
const PREFIX = '@constant';
/** Characters of a text of the expression that a refusal repeats. */
const SHOWN_MAX = 40;

/** How a text is written that a function makes something of. */
const WRITTEN: Readonly<Record<string, string>> = {
  timestamp: 'is no time; one is written as in timestamp("2026-01-31T08:00:00Z")',
  duration: 'is no duration; one is written with h, m, s and ms, as in duration("1h30m")',
  int: 'is no whole number',
  uint: 'is no whole number',
  bool: 'is neither true nor false',
};

/**
 * Works out whatever an expression does with constants alone, such as `duration("5 apples")` or `1/0`: what fails there
 * fails for every input, also where another term hides it at times. Each part is worked out once, so that it takes no
 * longer than the steps that were reckoned: checkExpression has to stand before it. Changes nothing of the tree. Throws
 * CelRefused.
 */
export function tryConstants(expr: Expr, options: ConstantsOptions): void {
  partOf({ ...options, values: Object.create(null), count: 0 }, expr);
}

function partOf(trial: Trial, expr: Expr): Part {
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'constExpr':
    case undefined:
      return { expr, free: NONE };
    case 'identExpr':
      return { expr, free: new Set([exprKind.value.name]) };
    case 'selectExpr': {
      if (exprKind.value.operand === undefined) return { expr, free: NONE };
      const operand = partOf(trial, exprKind.value.operand);
      return worked(trial, {
        expr: { ...expr, exprKind: { case: 'selectExpr', value: { ...exprKind.value, operand: operand.expr } } },
        free: operand.free,
      });
    }
    case 'listExpr': {
      // A list of constants can not fail; whatever looks into it is tried.
      const elements = exprKind.value.elements.map((each) => partOf(trial, each));
      return {
        expr: {
          ...expr,
          exprKind: { case: 'listExpr', value: { ...exprKind.value, elements: elements.map((each) => each.expr) } },
        },
        free: union(elements),
      };
    }
    case 'structExpr':
      return worked(trial, struct(trial, expr, exprKind.value));
    case 'callExpr':
      return worked(trial, call(trial, expr, exprKind.value));
    case 'comprehensionExpr':
      return worked(trial, comprehension(trial, expr, exprKind.value));
  }
}

function struct(trial: Trial, expr: Expr, value: Struct): Part {
  const parts: Part[] = [];
  const replaced = (each: Expr): Expr => {
    const part = partOf(trial, each);
    parts.push(part);
    return part.expr;
  };
  const entries = value.entries.map((entry) => ({
    ...entry,
    keyKind:
      entry.keyKind.case === 'mapKey' ? { ...entry.keyKind, value: replaced(entry.keyKind.value) } : entry.keyKind,
    ...(entry.value === undefined ? {} : { value: replaced(entry.value) }),
  }));
  return { expr: { ...expr, exprKind: { case: 'structExpr', value: { ...value, entries } } }, free: union(parts) };
}

function call(trial: Trial, expr: Expr, value: Call): Part {
  const args = value.args.map((each) => partOf(trial, each));
  const target = value.target === undefined ? undefined : partOf(trial, value.target);
  const made = {
    ...value,
    args: args.map((each) => each.expr),
    ...(target === undefined ? {} : { target: target.expr }),
  };
  const part: Part = {
    expr: { ...expr, exprKind: { case: 'callExpr', value: made } },
    free: union(target === undefined ? args : [target, ...args]),
  };
  const last = args.at(-1);
  if (part.free.size === 0 || last?.free.size !== 0) return part;
  // Of these the last operand alone decides whether it can work.
  if ((value.function === '_/_' || value.function === '_%_') && valueOf(trial, last.expr) === 0n)
    trial.refuse(expr, 'a division by zero');
  if (value.function.startsWith('get') && target !== undefined) {
    const anyTime = trial.environment.cel.parse('timestamp(0)').expr;
    evaluated(
      trial,
      { ...part.expr, exprKind: { case: 'callExpr', value: { ...made, target: anyTime } } },
      value.args[0] ?? expr,
    );
  }
  return part;
}

function comprehension(trial: Trial, expr: Expr, value: Comprehension): Part {
  const { iterRange, accuInit, loopCondition, loopStep, result } = value;
  if (
    iterRange === undefined ||
    accuInit === undefined ||
    loopCondition === undefined ||
    loopStep === undefined ||
    result === undefined
  )
    return { expr, free: NONE };
  const [range, start] = [partOf(trial, iterRange), partOf(trial, accuInit)];
  const [condition, step] = [partOf(trial, loopCondition), partOf(trial, loopStep)];
  const end = partOf(trial, result);
  const inside = union([condition, step]).difference(new Set([value.iterVar, value.accuVar]));
  const after = end.free.difference(new Set([value.accuVar]));
  const made = {
    ...value,
    iterRange: range.expr,
    accuInit: start.expr,
    loopCondition: condition.expr,
    loopStep: step.expr,
    result: end.expr,
  };
  return {
    expr: { ...expr, exprKind: { case: 'comprehensionExpr', value: made } },
    free: union([range, start, { free: inside }, { free: after }]),
  };
}

function union(parts: readonly Pick<Part, 'free'>[]): ReadonlySet<string> {
  const names = new Set(parts.flatMap(({ free }) => [...free]));
  return names.size === 0 ? NONE : names;
}

/** A part of constants alone, with a name in its place that has its value. */
function worked(trial: Trial, part: Part): Part {
  if (part.free.size > 0) return part;
  const name = `${PREFIX}${trial.count}`;
  trial.count += 1;
  trial.values[name] = evaluated(trial, part.expr, part.expr);
  return {
    expr: { ...part.expr, exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } } },
    free: NONE,
  };
}

function evaluated(trial: Trial, expr: Expr, at: Expr): Cel.CelInput {
  const { cel, env } = trial.environment;
  const result = cel.plan(env, expr)(trial.values);
  if (!cel.isCelError(result)) return result;
  // Within a loop the library knows the place better; elsewhere it may know none.
  const place = expr.exprKind.case === 'comprehensionExpr' ? { ...at, id: result.exprId ?? at.id } : at;
  return trial.refuse(place, told(trial, expr, result.message));
}

/** What is wrong, with the text of the expression that is. */
function told(trial: Trial, expr: Expr, message: string): string {
  const made = expr.exprKind.case === 'callExpr' ? expr.exprKind.value : undefined;
  const text = made?.args[0] === undefined ? undefined : valueOf(trial, made.args[0]);
  const fault = faultOf(message, trial.text);
  if (typeof text !== 'string') return fault;
  const shown = JSON.stringify(text.slice(0, SHOWN_MAX));
  if (isZoneFault(message))
    return `there is no time zone ${shown}${didYouMean(text, Intl.supportedValuesOf('timeZone'))}`;
  const written = WRITTEN[made?.function ?? ''];
  return written !== undefined && isConversionFault(message) ? `${shown} ${written}` : fault;
}

/** The value of a constant, where it is a text or a whole number, or of what was worked out. */
function valueOf(trial: Trial, { exprKind }: Expr): unknown {
  if (exprKind.case === 'identExpr') return trial.values[exprKind.value.name];
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' || constant?.case === 'int64Value' ? constant.value : undefined;
}
