import { CelRefused } from '../../domain/cel/refused.ts';
import { compileStepCondition, type StepCondition } from '../../domain/workflows/condition.ts';
import { stepsBefore } from '../../domain/workflows/graph.ts';
import type { Evaluate } from '../../domain/workflows/progress.ts';
import type { Step } from '../../domain/workflows/workflow.ts';

/** The workflows whose conditions are kept compiled: compiling takes 1 ms for each condition. */
const KEPT = 64;

const kept = new Map<string, Promise<Evaluate>>();

/**
 * Evaluates the conditions of these steps. Where nothing else may wait, such as in a transaction, call it before too:
 * the second call finds the result of the first one.
 */
export function conditionsOf(steps: readonly Step[]): Promise<Evaluate> {
  const key = JSON.stringify(steps.map(({ name, needs, when }) => [name, needs, when]));
  const compiled = kept.get(key) ?? compile(steps);
  kept.delete(key);
  kept.set(key, compiled);
  const oldest = kept.keys().next();
  if (kept.size > KEPT && oldest.done !== true) kept.delete(oldest.value);
  return compiled;
}

async function compile(steps: readonly Step[]): Promise<Evaluate> {
  const conditions = new Map<string, StepCondition | string>();
  for (const { name, when } of steps)
    if (when !== null) conditions.set(name, await compileOne(when, stepsBefore(steps, name)));
  return ({ name }, states) => {
    const condition = conditions.get(name) ?? 'it is not known';
    return typeof condition === 'string' ? { error: condition } : condition.evaluate(states);
  };
}

/** A condition that this version refuses is an error where it is evaluated: an earlier version accepted it. */
async function compileOne(when: string, before: readonly string[]): Promise<StepCondition | string> {
  try {
    return await compileStepCondition(when, before);
  } catch (thrown) {
    if (thrown instanceof CelRefused) return thrown.message;
    throw thrown;
  }
}
