import { didYouMean } from '../cel/refused.ts';
import { stepsAfter } from './graph.ts';
import { type Evaluate, nextMoves } from './progress.ts';
import { isEnd, type Step, type StepEnd, type StepState } from './workflow.ts';

/** A run that starts at some steps, and takes the ends of the others from an earlier run. */

interface Resumed {
  /** The ends that are taken, by step. The other steps run. */
  readonly taken: ReadonlyMap<string, StepEnd>;
}

/**
 * The steps `from` and all steps after them run; every other one keeps its end of the `last` run. A `refusal` is a
 * sentence without its full stop.
 */
export function resumeFrom(
  steps: readonly Step[],
  last: ReadonlyMap<string, StepState>,
  from: readonly string[],
  evaluate: Evaluate,
): Resumed | { readonly refusal: string } {
  const names = steps.map(({ name }) => name);
  const unknown = from.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return { refusal: `there is no step ${JSON.stringify(unknown)}${didYouMean(unknown, names)}` };
  const runs = new Set(from.flatMap((name) => [name, ...stepsAfter(steps, name)]));
  const taken = new Map<string, StepEnd>();
  for (const name of names) {
    if (runs.has(name)) continue;
    const end = last.get(name);
    if (end === undefined || !isEnd(end))
      return { refusal: `the last run has no result of the step ${name}, which is not among those that run again` };
    taken.set(name, end);
  }
  const states = new Map(names.map((name): [string, StepState] => [name, taken.get(name) ?? 'waiting']));
  const idle = nextMoves(steps, states, evaluate).find((move) => move.to !== 'start' && from.includes(move.step));
  if (idle === undefined || idle.to === 'start') return { taken };
  return { refusal: `the step ${idle.step} would not run: ${idle.reason}` };
}
