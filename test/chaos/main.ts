/**
 * `npm run chaos [-- KILLS]`: 200 kills on SQLite and 200 on PostgreSQL with two daemons, and the figures of each.
 * CHAOS_SEED=N repeats the decisions of a run. Exits with 1 when an invariant was broken.
 */
import { chosenSeed } from './seeded.ts';
import { describeFigures, runChaos } from './chaos.ts';

const KILLS_DEFAULT = 200;

const kills = Number(process.argv[2] ?? KILLS_DEFAULT);
const seed = chosenSeed();
console.log(`CHAOS_SEED=${seed}`);

for (const { name, postgres, daemons } of [
  { name: 'SQLite, one daemon', postgres: false, daemons: 1 },
  { name: 'SQLite, two daemons on one data directory', postgres: false, daemons: 2 },
  { name: 'PostgreSQL, two daemons', postgres: true, daemons: 2 },
]) {
  const endings: (() => Promise<void>)[] = [];
  try {
    const { violations, figures } = await runChaos({ after: (step) => void endings.push(step) }, { postgres, daemons, kills, seed });
    console.log(`${name}: ${describeFigures(figures)}; ${violations.length} violations`);
    for (const { rule, what } of violations) console.log(`  ${rule}: ${what}`);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}
