/** The same plans on both stores, which must come to the same. */
import { makePlan } from './plan/make-plan.ts';
import type { Plan } from './plan/plan.ts';
import { simulate, type Verdict } from './simulate.ts';
import { openStores } from './stores/open.ts';
import { STORE_KINDS } from './stores/store.ts';

/** From one action to the next, in milliseconds: what the one before it began has come to rest, or takes minutes. */
const SLOT_MS = 10_000;
/** Where in its time an action is, in seconds: never at a minute, nor a minute after the one before. */
const OFFSETS = [2, 5, 8, 4, 7, 3, 6];

interface BothOrder {
  readonly home: string;
  readonly first: number;
  readonly count: number;
  readonly actions: number;
}

/** When the action with this number is done. */
function at(n: number): number {
  return n * SLOT_MS + (OFFSETS[n % OFFSETS.length] ?? 0) * 1_000;
}

/**
 * Without faults, with one daemon, and one action at a time: which of two things comes first is chance, and so is what
 * follows from it.
 */
function calmPlan(seed: number, actions: number): Plan {
  const plan = makePlan(seed, { daemons: 1, actions, with: [] });
  const calls = plan.actions.filter(({ do: what }) => what === 'call' || what === 'repeat');
  const calm = calls.map((action, n) => ({ ...action, afterMs: at(n + 1) - at(n) }));
  return { ...plan, actions: calm, chanceKills: false };
}

/** True where each plan breaks no rule and comes to the same on both. */
export async function runBoth({ home, first, count, actions }: BothOrder): Promise<boolean> {
  const found: Verdict[][] = [];
  for (const kind of STORE_KINDS) {
    const stores = await openStores(kind, home);
    const verdicts: Verdict[] = [];
    try {
      for (let seed = first; seed < first + count; seed += 1)
        verdicts.push(await simulate(calmPlan(seed, actions), stores));
    } finally {
      await stores.close();
    }
    found.push(verdicts);
  }
  const [sqlite = [], postgres = []] = found;
  let failed = 0;
  for (const [n, one] of sqlite.entries()) {
    const other = postgres[n];
    const broken = [...one.broken, ...(other?.broken ?? [])];
    for (const { rule, what } of broken) console.log(`seed ${one.seed} breaks ${rule}: ${what}`);
    const [here, there] = [one.summary, other?.summary ?? []];
    const differences = [
      ...here.filter((line) => !there.includes(line)).map((line) => `sqlite: ${line}`),
      ...there.filter((line) => !here.includes(line)).map((line) => `postgres: ${line}`),
    ];
    for (const line of differences) console.log(`seed ${one.seed} ${line}`);
    if (broken.length > 0 || here.join('\n') !== there.join('\n')) failed += 1;
  }
  console.log(`${count} plans on both stores, ${failed} failed`);
  return failed === 0;
}
