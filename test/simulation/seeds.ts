import { createHash } from 'node:crypto';
import { makePlan, type PlanOrder } from './plan/make-plan.ts';
import { coverageOf, printCoverage } from './oracle/coverage.ts';
import { simulate, type Verdict } from './simulate.ts';
import { openStores } from './stores/open.ts';
import type { StoreKind } from './stores/store.ts';

export interface SeedsOrder extends PlanOrder {
  /** A folder that is made for it and removed. */
  readonly home: string;
  readonly store: StoreKind;
  readonly first: number;
  readonly count: number;
  readonly limitMs: number;
  /** Runs each seed again, which must be the same. */
  readonly twice: boolean;
  /** Ends with the first seed that fails. */
  readonly stop: boolean;
  readonly trace: boolean;
  /** Fails where a modelled operation did not have each of its documented answers. */
  readonly covered: boolean;
  /** Hides a row from the rules: each seed has to fail. */
  readonly hide: boolean;
}

/** How many failing seeds are written out. */
const SHOWN_MAX = 5;
const TRACE_LINES = 40;

/** Runs the seeds, and prints those that fail and what all of them were. True where none fails. */
export async function runSeeds(order: SeedsOrder): Promise<boolean> {
  const stores = await openStores(order.store, order.home);
  const began = performance.now();
  const sum = { seeds: 0, failed: 0, steps: 0, commits: 0, kills: 0, jobs: 0, virtualMs: 0, cpuMs: 0 };
  const answers = new Map<string, number>();
  const all = createHash('sha256');
  try {
    const how = { keepsTrace: order.trace, hidesJob: order.hide };
    // Loads what is loaded late, so that the first seed is as the others.
    await simulate(makePlan(0, order), stores);
    for (let seed = order.first; seed < order.first + order.count; seed += 1) {
      if (performance.now() - began > order.limitMs) break;
      const verdict = await simulate(makePlan(seed, order), stores, how);
      const again = order.twice ? await simulate(makePlan(seed, order), stores, how) : verdict;
      sum.seeds += 1;
      all.update(verdict.hash);
      for (const key of ['steps', 'commits', 'kills', 'jobs', 'virtualMs', 'cpuMs'] as const) sum[key] += verdict[key];
      for (const [name, count] of verdict.answers) answers.set(name, (answers.get(name) ?? 0) + count);
      if (order.trace) console.log(verdict.trace.join('\n'));
      if (order.count <= 3) console.log(`seed ${seed}: ${verdict.hash}`);
      if (verdict.hash === again.hash && verdict.broken.length === 0) continue;
      sum.failed += 1;
      if (sum.failed <= SHOWN_MAX) show(order, verdict, again);
      if (order.stop) break;
    }
  } finally {
    await stores.close();
  }
  const per = (total: number): number => Math.round(total / Math.max(1, sum.seeds));
  console.log(
    `${sum.seeds} seeds, ${sum.failed} failed, ${sum.kills} kills; a seed: ${per(sum.cpuMs)} ms of processor, ` +
      `${per(sum.virtualMs / 1_000)} s simulated, ${per(sum.steps)} steps, ${per(sum.commits)} commits, ` +
      `${per(sum.jobs)} jobs; hash of all: ${all.digest('hex').slice(0, 16)}`,
  );
  for (const [name, count] of [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1))) console.log(`  ${name}: ${count}`);
  const coverage = coverageOf(answers);
  printCoverage(coverage);
  return sum.failed === 0 && (!order.covered || coverage.missing.length === 0);
}

function show({ store, daemons, actions, with: areas }: SeedsOrder, verdict: Verdict, again: Verdict): void {
  const { seed, hash, broken } = verdict;
  if (hash !== again.hash) {
    console.log(`seed ${seed} is not the same twice: ${hash} and ${again.hash}`);
    const at = verdict.trace.findIndex((line, n) => line !== again.trace[n]);
    const before = verdict.trace.slice(Math.max(0, at - 3), at);
    if (at >= 0) console.log([...before, `1: ${verdict.trace[at]}`, `2: ${again.trace[at]}`].join('\n'));
  }
  for (const { rule, what } of broken.slice(0, 3)) console.log(`seed ${seed} breaks ${rule}: ${what}`);
  if (verdict.trace.length > 0) console.log(verdict.trace.slice(-TRACE_LINES).join('\n'));
  const ofStore = store === 'sqlite' ? '' : ` --store ${store}`;
  const withAreas = areas.map((name) => ` --with ${name}`).join('');
  const size = `--daemons ${daemons} --actions ${actions}`;
  console.log(`again: npm run simulate -- --seed ${seed} --count 1${ofStore}${withAreas} ${size} --trace`);
}
