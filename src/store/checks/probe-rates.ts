import { probesPer1000s } from '../../domain/checks/probe-rate.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import type { Db } from '../schema/schema.ts';

/** How many probes the checks in the store take. A check that is not enabled takes none. */

/** Checks of one query. On SQLite reading takes the thread: others have their turn in between. */
const CHECKS_READ = 50;

/** Of one check, in a thousand seconds; 0 for a name without one. */
export async function probeRateOf(db: Db, name: string): Promise<number> {
  const rows = await ratesQuery(db).where('name', '=', name).execute();
  return sumOf(rows);
}

/** Of all checks, in a thousand seconds. */
export async function totalProbeRate(db: Db): Promise<number> {
  let total = 0;
  for (let after = ''; ;) {
    const rows = await ratesQuery(db).where('name', '>', after).orderBy('name').limit(CHECKS_READ).execute();
    total += sumOf(rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHECKS_READ) return total;
    after = last.name;
    await nextTurn();
  }
}

function ratesQuery(db: Db) {
  return db
    .selectFrom('checks')
    .select((eb) => [
      'name' as const,
      'interval_ms' as const,
      eb
        .selectFrom('check_targets')
        .select((targets) => targets.fn.countAll<number>().as('count'))
        .whereRef('check_targets.check_name', '=', 'checks.name')
        .as('targets'),
    ])
    .where('enabled', '=', 1);
}

function sumOf(rows: readonly { readonly interval_ms: number; readonly targets: number | null }[]): number {
  return rows.reduce((sum, { interval_ms: ms, targets }) => sum + probesPer1000s(targets ?? 0, ms), 0);
}
