import { type CelAnswer, compileCel, parseCel } from '../cel/cel.ts';
import { CelRefused, didYouMean } from '../cel/refused.ts';
import type { CelShape } from '../cel/shape.ts';
import type { Expr } from '../cel/env.ts';
import { selection, textOf } from '../conditions/reads.ts';
import { STEP_ENDS } from './workflow.ts';

/** The `when` of a step: an expression over `steps`, such as `steps.patch.state == "degraded"`. */
export interface StepCondition {
  /** With the ends of the steps before it. Never throws. */
  evaluate(states: ReadonlyMap<string, string>): CelAnswer;
}

/** The characters of the longest state of a step. */
const STATE_CHARACTERS = 11;

/** Reads and checks it; `before` are the steps that have ended when it is evaluated. Throws CelRefused. */
export async function compileStepCondition(expression: string, before: readonly string[]): Promise<StepCondition> {
  if (before.length === 0) throw new CelRefused('the step needs no other step, so that there is nothing to look at');
  const valuesOf = (stateOf: (name: string) => string) => ({
    steps: Object.fromEntries(before.map((name) => [name, { state: stateOf(name) }])),
  });
  const step: CelShape = {
    kind: 'record',
    what: 'a step',
    fields: { state: { kind: 'text', length: STATE_CHARACTERS } },
  };
  const steps: CelShape = {
    kind: 'record',
    what: 'steps',
    fields: Object.fromEntries(before.map((name) => [name, step])),
  };
  const sample = { name: 'steps that succeeded', values: valuesOf(() => 'succeeded') };
  const compiled = await compileCel(expression, { roots: { steps }, samples: [sample] });
  refuseOtherStates(await parseCel(expression));
  return { evaluate: (states) => compiled.evaluate(valuesOf((name) => states.get(name) ?? '')) };
}

/** Throws CelRefused where a state is compared with what no step ends as: it would never be true. */
function refuseOtherStates(expr: Expr): void {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr') return;
  const { function: name, args } = exprKind.value;
  args.forEach(refuseOtherStates);
  if (name !== '_==_' && name !== '_!=_' && name !== '@in') return;
  if (!args.some((each) => selection(each)?.field === 'state')) return;
  const texts = args.flatMap((each) =>
    each.exprKind.case === 'listExpr' ? each.exprKind.value.elements.map(textOf) : [textOf(each)],
  );
  const wrong = texts.find((text) => text !== null && !(STEP_ENDS as readonly string[]).includes(text));
  if (wrong === null || wrong === undefined) return;
  const hint = didYouMean(wrong, STEP_ENDS) || `; expected one of ${STEP_ENDS.join(', ')}`;
  throw new CelRefused(`no step ends as ${JSON.stringify(wrong)}${hint}`);
}
