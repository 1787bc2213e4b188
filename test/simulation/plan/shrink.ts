import type { Action, Plan } from './plan.ts';

/** Tries at most; each runs the plan once. */
const TRIES_MAX = 300;

/** Whether a plan still fails as the whole one does: breaks the same rule. */
type Fails = (plan: Plan) => Promise<boolean>;

/**
 * Cuts a failing plan down: without chance kills, with fewer daemons, areas and actions, as long as it fails. What is
 * left keeps its times.
 */
export async function shrink(whole: Plan, fails: Fails): Promise<Plan> {
  let plan = whole;
  let tries = 0;
  const isEnough = async (smaller: Plan): Promise<boolean> => {
    if (tries >= TRIES_MAX) return false;
    tries += 1;
    if (!(await fails(smaller))) return false;
    plan = smaller;
    return true;
  };
  await isEnough({ ...plan, chanceKills: false });
  const leaveDaemonsOut = async (): Promise<void> => {
    for (let daemons = 1; daemons < plan.daemons; daemons += 1) if (await isEnough({ ...plan, daemons })) break;
  };
  await leaveDaemonsOut();
  for (const part of plan.parts) await isEnough({ ...plan, parts: plan.parts.filter((each) => each !== part) });
  for (let size = Math.ceil(plan.actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < plan.actions.length;)
      if (!(await isEnough({ ...plan, actions: without(plan.actions, at, size) }))) at += size;
  // What is left may need fewer of them.
  await leaveDaemonsOut();
  return plan;
}

/** The actions without `size` of them; the next one waits as long as these would have taken. */
function without(actions: readonly Action[], at: number, size: number): Action[] {
  const waitMs = actions.slice(at, at + size).reduce((sum, { afterMs }) => sum + afterMs, 0);
  const [next, ...rest] = actions.slice(at + size);
  const later = next === undefined ? [] : [{ ...next, afterMs: next.afterMs + waitMs }, ...rest];
  return [...actions.slice(0, at), ...later];
}
