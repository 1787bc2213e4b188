import { type CallSite, callShape } from './calls.ts';
import { type CelEnvironment, collectByAppending, type Expr } from './env.ts';
import { fieldOf } from './field.ts';
import { didYouMean } from './refused.ts';
import { BOOL, type CelShape, join, NOTHING, NUMBER, weight, word } from './shape.ts';

/** More nodes than people write by hand; a macro such as `exists` makes about ten. */
const NODES_MAX = 2_000;
/** Far below the depth at which this walk or an evaluation would overflow the stack. */
const DEPTH_MAX = 100;
/** Most literal elements of a loop inside another loop, so that the cost stays linear in the outer one. */
export const INNER_LOOP_MAX = 100;
/** Steps that an evaluation over everything that was reckoned with may take: measured at 0.1 to 0.3 µs each. */
const STEPS_MAX = 5_000_000;

/** The walk over one expression. */
interface Walk {
  readonly environment: CelEnvironment;
  /** Throws CelRefused with the place of the expression in front of what is wrong. */
  readonly refuse: (expr: Expr, what: string) => never;
  /** What a macro was called, by the id of what it became. */
  readonly macro: (expr: Expr) => string;
  readonly stepsMax: number;
  nodes: number;
  steps: number;
}

/** Where in the tree the walk is. */
interface Place {
  readonly names: ReadonlyMap<string, CelShape>;
  readonly depth: number;
  readonly loops: number;
  /** How often an evaluation comes here. */
  readonly times: number;
}

type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];
type Select = Extract<Expr['exprKind'], { case: 'selectExpr' }>['value'];

interface CheckOptions {
  readonly environment: CelEnvironment;
  readonly roots: Readonly<Record<string, CelShape>>;
  readonly refuse: (expr: Expr, what: string) => never;
  readonly macro: (expr: Expr) => string;
  /** Where something else waits for the evaluation, fewer steps than STEPS_MAX. */
  readonly stepsMax?: number;
}

/**
 * Checks names, calls, patterns, size and cost of a parsed expression, and returns the shape it yields. The library
 * itself would report an unknown name only at run time, and would search lists of lists for seconds. Also makes its
 * loops collect by appending. Throws CelRefused.
 */
export function checkExpression(expr: Expr, options: CheckOptions): CelShape {
  const { environment, refuse, macro, roots, stepsMax = STEPS_MAX } = options;
  const walk: Walk = { environment, refuse, macro, stepsMax, nodes: 0, steps: 0 };
  return shapeOf(walk, expr, { names: new Map(Object.entries(roots)), depth: 1, loops: 0, times: 1 });
}

function shapeOf(walk: Walk, expr: Expr, above: Place): CelShape {
  const place = { ...above, depth: above.depth + 1 };
  walk.nodes += 1;
  if (walk.nodes > NODES_MAX) walk.refuse(expr, `the expression has more than ${NODES_MAX} parts`);
  if (above.depth > DEPTH_MAX) walk.refuse(expr, `the expression is nested deeper than ${DEPTH_MAX}`);
  charge(walk, expr, place, 1);
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'constExpr':
      return constant(exprKind.value.constantKind);
    case 'identExpr':
      return named(walk, expr, exprKind.value.name, place);
    case 'selectExpr':
      return selected(walk, expr, exprKind.value, place);
    case 'listExpr': {
      const of = exprKind.value.elements.map((element) => shapeOf(walk, element, place)).reduce(join, NOTHING);
      return { kind: 'list', count: exprKind.value.elements.length, of };
    }
    case 'structExpr': {
      if (exprKind.value.messageName !== '') return walk.refuse(expr, 'there are no message types here');
      const parts = exprKind.value.entries.flatMap(({ keyKind, value }) => [
        keyKind.case === 'mapKey' ? keyKind.value : undefined,
        value,
      ]);
      const shapes = parts.filter((part) => part !== undefined).map((part) => shapeOf(walk, part, place));
      return {
        kind: 'map',
        count: exprKind.value.entries.length,
        of: shapes.filter((_, index) => index % 2 === 1).reduce(join, NOTHING),
      };
    }
    case 'callExpr': {
      const site: CallSite = {
        functions: walk.environment.env.funcs,
        call: exprKind.value,
        shapeOf: (part) => shapeOf(walk, part, place),
        charge: (steps) => charge(walk, expr, place, steps),
        pattern: (text) => walk.environment.pattern(text),
        refuse: (what) => walk.refuse(expr, what),
      };
      return callShape(site);
    }
    case 'comprehensionExpr':
      return looped(walk, expr, exprKind.value, place);
    case undefined:
      return walk.refuse(expr, 'this part cannot be parsed');
  }
}

function charge(walk: Walk, expr: Expr, place: Place, steps: number): void {
  walk.steps += steps * place.times;
  if (walk.steps <= walk.stepsMax) return;
  walk.refuse(
    expr,
    'the expression takes too many steps on a large input; search each list once, search no list for ' +
      'each entry of another, and repeat less in a pattern',
  );
}

function constant(kind: Extract<Expr['exprKind'], { case: 'constExpr' }>['value']['constantKind']): CelShape {
  switch (kind.case) {
    case 'stringValue':
      return { kind: 'text', length: kind.value.length };
    case 'boolValue':
      return BOOL;
    case 'int64Value':
    case 'uint64Value':
    case 'doubleValue':
      return NUMBER;
    case 'nullValue':
      return { kind: 'null' };
    case 'bytesValue':
    case 'durationValue':
    case 'timestampValue':
    case undefined:
      return { kind: 'unknown', weight: 1 };
  }
}

function named(walk: Walk, expr: Expr, name: string, place: Place): CelShape {
  const known = [...place.names.keys()].filter((each) => !each.startsWith('@'));
  const shape = place.names.get(name);
  return (
    shape ??
    walk.refuse(expr, `there is no name "${name}" here${didYouMean(name, known) || `; known: ${known.join(', ')}`}`)
  );
}

function selected(walk: Walk, expr: Expr, select: Select, place: Place): CelShape {
  if (select.operand === undefined) return walk.refuse(expr, 'this part cannot be parsed');
  const shape = shapeOf(walk, select.operand, place);
  const field = fieldOf(shape, select.field, (what) => walk.refuse(expr, what));
  return select.testOnly ? BOOL : field;
}

function looped(walk: Walk, expr: Expr, loop: Comprehension, place: Place): CelShape {
  const { iterRange, accuInit, loopCondition, loopStep, result } = loop;
  if (
    iterRange === undefined ||
    accuInit === undefined ||
    loopCondition === undefined ||
    loopStep === undefined ||
    result === undefined
  ) {
    return walk.refuse(expr, 'this part cannot be parsed');
  }
  const macro = walk.macro(expr);
  const written = iterRange.exprKind.case === 'listExpr' && iterRange.exprKind.value.elements.length <= INNER_LOOP_MAX;
  if (place.loops > 0 && !written) {
    walk.refuse(
      expr,
      `inside another loop, ${macro} may only run over a literal list of at most ${INNER_LOOP_MAX} elements`,
    );
  }
  const range = shapeOf(walk, iterRange, place);
  const over = elements(range) ?? walk.refuse(expr, `${macro} runs over a list, and this is ${word(range)}`);
  const start = shapeOf(walk, accuInit, place);
  // A loop that may run over nothing counts as one run, so that its body is checked and counted.
  const times = place.times * Math.max(1, over.count);
  const names = new Map([...place.names, [loop.accuVar, start], [loop.iterVar, over.of]]);
  const inside = { ...place, names, loops: place.loops + 1, times };
  if (start.kind === 'list') collectByAppending(loopStep, loop.accuVar);
  shapeOf(walk, loopCondition, inside);
  const step = shapeOf(walk, loopStep, inside);
  const end: CelShape = step.kind === 'list' ? { kind: 'list', count: over.count, of: step.of } : step;
  return shapeOf(walk, result, { ...place, names: new Map([...place.names, [loop.accuVar, end]]) });
}

/** What a loop over a value of this shape meets, and how often; a map is looped over by its keys. */
function elements(shape: CelShape): { readonly count: number; readonly of: CelShape } | null {
  switch (shape.kind) {
    case 'list':
      return shape;
    case 'map':
      return { count: shape.count, of: { kind: 'text', length: 64 } };
    case 'record':
      return { count: Object.keys(shape.fields).length, of: { kind: 'text', length: 64 } };
    case 'unknown':
      return { count: weight(shape), of: shape };
    case 'bool':
    case 'number':
    case 'text':
    case 'time':
    case 'duration':
    case 'null':
      return null;
  }
}
