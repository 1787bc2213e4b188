/**
 * `npm run chaos [-- KILLS]`: 200 kills under load on SQLite and 200 on PostgreSQL with two daemons, then 1,000 at the
 * points of sending pages on each, then 1,000 over running workflows on each, and the figures of all. KILLS takes the
 * place of all numbers. CHAOS_SEED=N repeats the decisions of a run. Exits with 1 when an invariant was broken.
 */
import type { Ending } from '../support/fixtures/installation.ts';
import { describeFigures, runChaos } from './chaos.ts';
import { describeNotificationFigures, runNotificationKills } from './notification-kills.ts';
import { chosenSeed } from './seeded.ts';
import { describeWorkflowFigures, runWorkflowKills } from './workflow-kills.ts';

const KILLS_DEFAULT = 200;
/** What the fault F20 asks for. */
const NOTIFICATION_KILLS_DEFAULT = 1_000;
const WORKFLOW_KILLS_DEFAULT = 1_000;

interface Answer {
  readonly figures: string;
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
}

const given = process.argv[2];
const kills = Number(given ?? KILLS_DEFAULT);
const notificationKills = Number(given ?? NOTIFICATION_KILLS_DEFAULT);
const workflowKills = Number(given ?? WORKFLOW_KILLS_DEFAULT);
const seed = chosenSeed();
console.log(`CHAOS_SEED=${seed}`);

for (const { name, postgres, daemons } of [
  { name: 'SQLite, one daemon', postgres: false, daemons: 1 },
  { name: 'SQLite, two daemons on one data directory', postgres: false, daemons: 2 },
  { name: 'PostgreSQL, two daemons', postgres: true, daemons: 2 },
]) {
  await part(name, async (ending) => {
    const { violations, figures } = await runChaos(ending, { postgres, daemons, kills, seed });
    return { violations, figures: describeFigures(figures) };
  });
}
for (const { name, postgres, daemons } of [
  { name: 'Pages, SQLite, one daemon', postgres: false, daemons: 1 },
  { name: 'Pages, PostgreSQL, two daemons', postgres: true, daemons: 2 },
]) {
  await part(name, async (ending) => {
    const { violations, figures } = await runNotificationKills(ending, {
      postgres,
      daemons,
      kills: notificationKills,
      seed,
    });
    return { violations, figures: describeNotificationFigures(figures) };
  });
}

for (const { name, postgres, daemons } of [
  { name: 'Workflows, SQLite, one daemon', postgres: false, daemons: 1 },
  { name: 'Workflows, PostgreSQL, two daemons', postgres: true, daemons: 2 },
]) {
  await part(name, async (ending) => {
    const options = { postgres, daemons, kills: workflowKills, seed };
    const { violations, figures } = await runWorkflowKills(ending, options);
    return { violations, figures: describeWorkflowFigures(figures) };
  });
}

/** Runs one part and ends what it began, also where it fails. */
async function part(name: string, run: (ending: Ending) => Promise<Answer>): Promise<void> {
  const endings: (() => Promise<void>)[] = [];
  try {
    const { figures, violations } = await run({ after: (step) => void endings.push(step) });
    console.log(`${name}: ${figures}; ${violations.length} violations`);
    for (const { rule, what } of violations) console.log(`  ${rule}: ${what}`);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}
