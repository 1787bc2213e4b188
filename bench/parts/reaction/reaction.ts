import { join } from 'node:path';
import type { Evaluated } from '../../children/reaction-orders.ts';
import type { Bench } from '../../kit/bench.ts';
import { runChild } from '../../kit/child.ts';
import { passableTempDir, removeDir } from '../../kit/scratch.ts';
import { percentile } from '../../kit/statistics.ts';
import { type Reached, withDaemon } from './drive.ts';
import { FEW_RULES, ingest, MANY_RULES, withBare } from './ingest.ts';
import { ledger } from './ledger.ts';

const EVALUATED = { equal: 'that compare,', contains: 'with a pattern,', library: 'by the CEL library,' };

/** From an alert to its job, many alerts at once, the rules by themselves, and the whole ledger in one answer. */
export async function reaction(bench: Bench): Promise<void> {
  const dir = passableTempDir('reaction');
  try {
    await withDaemon(join(dir, 'data'), join(dir, 'daemon.log'), async (daemon) => {
      await daemon.ask({ do: 'rules', from: 0, to: FEW_RULES, form: 'equal' });
      await idle(bench, dir, daemon);
      await ingest(bench, dir, daemon);
    });
    await evaluations(bench, dir);
    await ledger(bench, dir);
  } finally {
    removeDir(dir);
  }
}

async function idle({ report, quick }: Bench, dir: string, daemon: Reached): Promise<void> {
  const one = await withBare(dir, 'one', (bare) => bare(1, 500));
  const samples = await daemon.ask<number[]>({ do: 'idle', count: quick ? 40 : 200 });
  const floor = (what: 'p50' | 'p99') => ({
    name: `one request to a bare node:http that commits: ${what}`,
    value: one[`${what}Ms`],
  });
  const name = `webhook sent to job running, idle, ${FEW_RULES} rules`;
  report.add({
    name: `${name}: p50`,
    value: percentile(samples, 0.5),
    unit: 'ms',
    floor: floor('p50'),
    goal: { atMost: 8 },
  });
  report.add({
    name: `${name}: p99`,
    value: percentile(samples, 0.99),
    unit: 'ms',
    floor: floor('p99'),
    goal: { atMost: 30 },
  });
}

async function evaluations({ report, quick }: Bench, dir: string): Promise<void> {
  for (const form of ['equal', 'contains', 'library'] as const) {
    for (const rules of [FEW_RULES, MANY_RULES]) {
      const result = await runChild<Evaluated>('children/evaluator.ts', {
        dir,
        rules,
        form,
        durationMs: quick ? 1_000 : 3_000,
      });
      const goal = { atLeast: 50_000 };
      report.add({
        name: `evaluations, ${EVALUATED[form]} ${rules} rules, first second of a process`,
        value: result.firstPerSecond,
        unit: '/s',
        goal,
      });
      report.add({
        name: `evaluations, ${EVALUATED[form]} ${rules} rules, after it`,
        value: result.perSecond,
        unit: '/s',
        goal,
      });
    }
  }
}
