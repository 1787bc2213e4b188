import type { CelAnswer } from '../cel/cel.ts';
import { inOrder } from './graph.ts';
import {
  isEnd,
  isSuccess,
  RUN_ENDS,
  type RunEnd,
  type RunState,
  type Step,
  type StepEnd,
  type StepState,
} from './workflow.ts';

/** What a run of a workflow does next. */

/** The state of each step of a run, by its name. */
type States = ReadonlyMap<string, StepState>;

/** Whether the condition of a step holds, with the ends of the steps before it. Never throws. */
export type Evaluate = (step: Step, states: States) => CelAnswer;

type Move =
  | { readonly step: string; readonly to: 'start' }
  /** Ends without a job; `reason` is a part of a sentence. */
  | { readonly step: string; readonly to: 'skipped' | 'failed'; readonly reason: string };

/**
 * What becomes of the waiting steps whose needed steps have ended, those included that wait for a step which is skipped
 * here. Nothing for the others.
 */
export function nextMoves(steps: readonly Step[], states: States, evaluate: Evaluate): readonly Move[] {
  const now = new Map(states);
  const moves: Move[] = [];
  for (const step of inOrder(steps)) {
    if (now.get(step.name) !== 'waiting' || !step.needs.every((need) => hasEnded(now, need))) continue;
    const move = moveOf(step, now, evaluate);
    moves.push(move);
    if (move.to !== 'start') now.set(step.name, move.to);
  }
  return moves;
}

function moveOf(step: Step, states: States, evaluate: Evaluate): Move {
  if (step.when === null) {
    const unmet = step.needs.find((need) => !isSuccess(states.get(need) ?? 'waiting'));
    if (unmet === undefined) return { step: step.name, to: 'start' };
    return { step: step.name, to: 'skipped', reason: `the step ${unmet} is ${states.get(unmet) ?? 'gone'}` };
  }
  const answer = evaluate(step, states);
  if ('error' in answer) return { step: step.name, to: 'failed', reason: `when cannot be evaluated: ${answer.error}` };
  return answer.value
    ? { step: step.name, to: 'start' }
    : { step: step.name, to: 'skipped', reason: 'its condition is false' };
}

function hasEnded(states: States, name: string): boolean {
  return isEnd(states.get(name) ?? 'waiting');
}

/** How a run ends whose steps ended like this: as the worst of them. A skipped step changes nothing. */
export function verdictOf(ends: Iterable<StepEnd>): RunEnd {
  const found = new Set<StepEnd>(ends);
  return RUN_ENDS.find((end) => found.has(end)) ?? 'succeeded';
}

/** The state of a run by its steps: it waits for an approval where nothing else of it is under way. */
export function runStateOf(states: Iterable<StepState>): RunState {
  const all = [...states];
  if (all.every(isEnd)) return verdictOf(all);
  const isWaiting = all.includes('awaiting_approval') && !all.includes('queued') && !all.includes('running');
  return isWaiting ? 'awaiting_approval' : 'running';
}
