/** Plans that are kept: cut down from a seed that failed once, and run with each test run ever since. */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePlan, type PlanOrder } from './plan/make-plan.ts';
import type { Plan } from './plan/plan.ts';
import { readPlan, writePlan } from './plan/plan-file.ts';
import { shrink } from './plan/shrink.ts';
import { simulate } from './simulate.ts';
import { openStores } from './stores/open.ts';
import type { StoreKind } from './stores/store.ts';

interface ShrinkOrder extends PlanOrder {
  readonly home: string;
  readonly store: StoreKind;
  readonly seed: number;
  readonly hide: boolean;
  /** Where the plan is written. */
  readonly to: string;
}

interface PlansOrder {
  readonly home: string;
  readonly store: StoreKind;
  /** Prints what was done. */
  readonly trace: boolean;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Runs the plans in these files or folders. True where none breaks a rule. */
export async function runPlans({ store, home, trace }: PlansOrder, paths: readonly string[]): Promise<boolean> {
  const files = paths.flatMap((path) => (isFolder(path) ? globSync(join(path, '*.json')) : [path])).toSorted();
  if (files.length === 0) {
    console.log(`there is no plan in ${paths.join(', ')}`);
    return false;
  }
  const stores = await openStores(store, home);
  let failed = 0;
  try {
    for (const file of files) {
      const { broken, trace: lines } = await simulate(readPlan(file), stores, { keepsTrace: trace });
      if (trace) console.log(lines.join('\n'));
      for (const { rule, what } of broken) console.log(`${file} breaks ${rule}: ${what}`);
      if (broken.length > 0) failed += 1;
    }
  } finally {
    await stores.close();
  }
  console.log(`${files.length} plans, ${failed} failed`);
  return failed === 0;
}

/** Cuts down the plan of a seed that fails, and writes it. False where the seed does not fail. */
export async function shrinkSeed(order: ShrinkOrder): Promise<boolean> {
  const stores = await openStores(order.store, order.home);
  const broken = async (plan: Plan) => (await simulate(plan, stores, { hidesJob: order.hide })).broken;
  try {
    const whole = makePlan(order.seed, order);
    const [first] = await broken(whole);
    if (first === undefined) {
      console.log(`seed ${order.seed} breaks no rule`);
      return false;
    }
    const small = await shrink(whole, async (plan) => (await broken(plan)).some(({ rule }) => rule === first.rule));
    writePlan(order.to, small, `${first.rule}: ${first.what}`);
    console.log(
      `seed ${order.seed} breaks ${first.rule} with ${small.actions.length} of ${whole.actions.length} actions`,
    );
    return true;
  } finally {
    await stores.close();
  }
}
