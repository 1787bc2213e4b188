import type { Step } from './workflow.ts';

/** The order of steps. */

type Node = Pick<Step, 'name' | 'needs'>;

/** Each step after those that it needs, otherwise as written. Steps on a cycle, and those behind one, are left out. */
export function inOrder<N extends Node>(steps: readonly N[]): N[] {
  const open = new Map(steps.map((step) => [step.name, step.needs.length]));
  const dependants = dependantsOf(steps);
  const ready = steps.filter((step) => step.needs.length === 0);
  for (const step of ready) {
    for (const next of dependants.get(step.name) ?? []) {
      const left = (open.get(next.name) ?? 0) - 1;
      open.set(next.name, left);
      if (left === 0) ready.push(next);
    }
  }
  return ready;
}

/** A cycle as the names along it, each of which needs the next one and the last the first; null without one. */
export function findCycle(steps: readonly Node[]): readonly [string, ...string[]] | null {
  const ordered = new Set(inOrder(steps).map(({ name }) => name));
  const left = new Map(steps.filter(({ name }) => !ordered.has(name)).map((step) => [step.name, step]));
  // Each of them needs another one of them, so a walk comes back to where it was.
  const walked: string[] = [];
  let [step] = left.values();
  while (step !== undefined && !walked.includes(step.name)) {
    walked.push(step.name);
    step = step.needs.map((name) => left.get(name)).find((need) => need !== undefined);
  }
  const [first, ...others] = step === undefined ? [] : walked.slice(walked.indexOf(step.name));
  return first === undefined ? null : [first, ...others];
}

/** The steps that end before `name` starts, in the order of the file. */
export function stepsBefore(steps: readonly Node[], name: string): string[] {
  const found = reached(name, new Map(steps.map((step) => [step.name, step.needs])));
  return steps.map((step) => step.name).filter((each) => found.has(each));
}

/** The steps that start only after `name` has ended. */
export function stepsAfter(steps: readonly Node[], name: string): ReadonlySet<string> {
  return reached(name, new Map([...dependantsOf(steps)].map(([of, next]) => [of, next.map((step) => step.name)])));
}

function reached(from: string, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const todo = [...(next.get(from) ?? [])];
  for (const name of todo) {
    if (found.has(name)) continue;
    found.add(name);
    todo.push(...(next.get(name) ?? []));
  }
  return found;
}

function dependantsOf<N extends Node>(steps: readonly N[]): ReadonlyMap<string, readonly N[]> {
  const found = new Map<string, N[]>();
  for (const step of steps) for (const need of step.needs) found.set(need, [...(found.get(need) ?? []), step]);
  return found;
}
